package io.kinema.engine.telemetry;

import io.kinema.engine.Stage;
import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A stage of a request ran. */
@Name("kinema.Stage")
@Label("Stage")
@Category("Kinema")
@StackTrace(false)
public final class StageEvent extends Event {
    @Label("Stage")
    private String stage;

    @Label("Finished")
    private boolean finished;

    /** Runs a stage as one event, whether it ends well or not. */
    public static <T> T around(Stage stage, Supplier<T> work) {
        StageEvent event = new StageEvent();
        event.begin();
        try {
            T result = work.get();
            event.finished = true;
            return result;
        } finally {
            event.end();
            if (event.shouldCommit()) {
                event.stage = stage.key();
                event.commit();
            }
        }
    }
}

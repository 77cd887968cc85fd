package io.kinema.fuzz;

import io.kinema.engine.AspectRatio;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import java.nio.file.Path;
import java.util.List;

/** A request of arbitrary values against the released geometry and the bundled one: it resolves to something the model can make, or is refused. */
public final class RequestFuzz {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root", ".")).toAbsolutePath();
    private static final List<ModelGeometry> MODELS = List.of(ModelFolder.open(ROOT.resolve("testdata/goldens/checkpoint")).geometry(),
            ModelFolder.open(ROOT.resolve("models/h3-nano")).geometry());
    private static final Path FILE = Path.of("x");
    private static final int MOST_REFERENCES = 15;

    private RequestFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Choices choices = new Choices(data);
        Refusals.allow(() -> {
            ModelGeometry model = MODELS.get(choices.below(MODELS.size()));
            GenerateRequest request = request(choices);
            PictureSizes sizes = file -> new PictureSizes.Size(Math.max(1, choices.integer()), Math.max(1, choices.integer()));
            check(new RequestResolver(model, sizes).resolve(request), model);
        });
    }

    private static GenerateRequest request(Choices choices) {
        GenerateRequest.Builder request = GenerateRequest.prompt(choices.text()).strict(choices.yes());
        int given = (int) choices.longer();
        int references = choices.below(MOST_REFERENCES);
        List<Runnable> fields = List.of(() -> request.task(Task.values()[choices.below(Task.values().length)]), () -> request.image(FILE),
                () -> request.lastImage(FILE), () -> request.width(choices.integer()), () -> request.height(choices.integer()),
                () -> request.aspectRatio(choices.yes() ? AspectRatio.parse(choices.text()) : new AspectRatio(choices.number(), choices.number())),
                () -> request.frames(choices.integer()), () -> request.seconds(choices.number()), () -> request.steps(choices.integer()),
                () -> request.seed(choices.longer()), () -> request.outputs(choices.integer()), () -> request.flowShift(choices.number()),
                () -> request.audioFlowShift(choices.number()),
                () -> request.noiseScheme(NoiseScheme.values()[choices.below(NoiseScheme.values().length)]),
                () -> add(references, request, choices));
        for (int i = 0; i < fields.size(); i++) {
            if ((given >> i & 1) == 1) {
                fields.get(i).run();
            }
        }
        return request.build();
    }

    private static void add(int references, GenerateRequest.Builder request, Choices choices) {
        for (int i = 0; i < references; i++) {
            request.reference(switch (choices.below(4)) {
                case 0 -> new Reference.Image(FILE);
                case 1 -> new Reference.Video(FILE, false);
                case 2 -> new Reference.Video(FILE, true);
                default -> new Reference.Audio(FILE);
            });
        }
    }

    private static void check(ResolvedRequest resolved, ModelGeometry model) {
        int step = model.canvasMultiple();
        boolean canvas = resolved.width() > 0 && resolved.height() > 0 && resolved.width() % step == 0 && resolved.height() % step == 0;
        boolean frames = resolved.frames() >= 22 && (resolved.frames() - 5) % 17 == 0 && (resolved.latentFrames() - 2) % 5 == 0;
        boolean counts = resolved.steps() > 0 && resolved.seed() >= 0 && resolved.outputs() > 0 && resolved.audioLatents() > 0;
        boolean area = (long) resolved.width() * resolved.height() <= 2 * model.canvasMaxPixels();
        if (!canvas || !frames || !counts || !area || resolved.flowShift() <= 0 || resolved.audioFlowShift() <= 0) {
            throw new AssertionError("resolved to " + resolved);
        }
        resolved.notes().forEach(note -> Refusals.requireOneLine(note, null));
    }
}

package io.kinema.cli;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Planner;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.pipeline.Backends;
import java.util.Collection;

/** What a command finds out before its work: neither the first job of a server nor the last of hours of measuring should be the one that does. */
final class StartChecks {
    private StartChecks() {
    }

    /**
     * Checks options and weights as generate does.
     *
     * @throws RuntimeException as {@link H3Planner#check()}
     */
    static void options(H3Planner planner, Collection<AdapterUse> adapters) {
        planner.check();
        adapters.forEach(planner::check);
    }

    /**
     * Checks one request and the devices that it will run on.
     *
     * @throws RuntimeException as {@link H3Planner#plan(EngineOptions, GenerateRequest, Rates)} and {@link #devices}
     */
    static void request(EngineOptions engine, GenerateRequest request) {
        H3Planner.plan(engine, request, Rates.NONE);
        devices(engine);
    }

    /** Opens the devices and gives them back. @throws io.kinema.compute.DeviceUnavailableException when this machine lacks one */
    static void devices(EngineOptions engine) {
        Backends.group(engine.device(), engine.ranks(), engine.threads(), engine.backend()).get().close();
    }
}

package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.model.adapter.SamplingContract;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How a request is sampled: as its distilled adapter's contract says, else as the request and the model say.
 *
 * @param steps          model evaluations
 * @param flowShift      of the video's schedule
 * @param audioFlowShift of the sound's schedule
 * @param levels         noise levels before the shift where a contract lists them, else empty: equidistant
 */
record Sampling(int steps, double flowShift, double audioFlowShift, List<Double> levels) {

    /** The contract of the adapters in use, if one has any. @throws BadRequestException when two differ, or one is unknown and the request states no schedule */
    static Optional<ResolvedAdapter> contracted(GenerateRequest request, List<ResolvedAdapter> adapters, ModelGeometry model) {
        List<ResolvedAdapter> active = adapters.stream().filter(ResolvedAdapter::active).toList();
        List<ResolvedAdapter> contracted = active.stream().filter(a -> a.contract().isPresent()).toList();
        for (ResolvedAdapter other : contracted) {
            if (!same(other.contract().orElseThrow(), contracted.getFirst().contract().orElseThrow())) {
                throw new BadRequestException("adapter", contracted.getFirst().use().name() + " beside " + other.use().name(),
                        "but they were distilled for different schedules; use one of them");
            }
        }
        if (contracted.isEmpty() && !active.isEmpty() && !statesSchedule(request)) {
            throw new BadRequestException("adapter", active.getFirst().use().name() + ", which is not known here",
                    "expected its schedule with it: steps, flowShift and audioFlowShift (a style adapter takes the model's own, "
                            + model.limits().defaultSteps() + ", " + number(model.flowShift()) + " and " + number(model.audioFlowShift()) + ")");
        }
        return contracted.stream().findFirst();
    }

    /** @throws BadRequestException when the request contradicts the contract */
    static Sampling of(GenerateRequest request, ResolvedAdapter adapter, List<String> notes) {
        SamplingContract contract = adapter.contract().orElseThrow();
        String name = adapter.use().name();
        if (request.steps().isPresent() && request.steps().getAsInt() != contract.evaluations()) {
            int steps = request.steps().getAsInt();
            throw new BadRequestException("steps", "" + steps, "expected " + contract.evaluations() + " with adapter " + name
                    + (steps == contract.evaluations() + 1 ? " (model evaluations, not grid points)" : "") + "; write " + contract.evaluations() + " or leave it out");
        }
        requireShift("flowShift", request.flowShift(), contract.videoShift(), name);
        requireShift("audioFlowShift", request.audioFlowShift(), contract.audioShift(), name);
        notes.add(contract.evaluations() + " model evaluations, flow shift " + number(contract.videoShift()) + " and audio flow shift "
                + number(contract.audioShift()) + " from adapter " + name);
        return new Sampling(contract.evaluations(), contract.videoShift(), contract.audioShift(), contract.schedule());
    }

    private static void requireShift(String field, OptionalDouble asked, double expected, String name) {
        if (asked.isPresent() && asked.getAsDouble() != expected) {
            throw new BadRequestException(field, number(asked.getAsDouble()), "expected " + number(expected) + " with adapter " + name
                    + "; write " + number(expected) + " or leave it out");
        }
    }

    private static boolean statesSchedule(GenerateRequest request) {
        return request.steps().isPresent() && request.flowShift().isPresent() && request.audioFlowShift().isPresent();
    }

    private static boolean same(SamplingContract a, SamplingContract b) {
        return a.schedule().equals(b.schedule()) && a.videoShift() == b.videoShift() && a.audioShift() == b.audioShift();
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e9 ? Long.toString((long) value) : Double.toString(value);
    }
}

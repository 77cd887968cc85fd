package io.kinema.measure.qualify;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Planner;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.measure.contract.CanonicalJson;
import io.kinema.weights.BadWeightsException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses the fastest way of running that the ledger vouches for: qualified against the options as given, for the request's shape, with
 * nothing changed since. The last entry of a candidate counts. Without one, the options stay as they are.
 */
public final class RouteChooser {
    private final Ledger ledger;

    private RouteChooser(Ledger ledger) {
        this.ledger = ledger;
    }

    public static RouteChooser of(Ledger ledger) {
        return new RouteChooser(ledger);
    }

    /**
     * {@link #choose(EngineOptions, ResolvedRequest)} of a request that is not resolved yet.
     *
     * @throws io.kinema.engine.BadRequestException  when the request breaks a rule
     * @throws io.kinema.weights.BadWeightsException when the model's folder is missing or no H3 model
     */
    public RouteChoice choose(EngineOptions given, GenerateRequest request) {
        try (H3Planner planner = H3Planner.open(given)) {
            return choose(given, planner.resolve(request));
        }
    }

    /** @param given the baseline: what runs when nothing is qualified against it */
    public RouteChoice choose(EngineOptions given, ResolvedRequest request) {
        Ledger.Contents contents = ledger.read();
        List<String> reasons = new ArrayList<>();
        contents.problems().forEach(problem -> reasons.add("the ledger " + ledger.file() + " is damaged: " + problem));
        Search search = new Search(given, request, reasons);
        Optional<ObjectNode> best = Optional.empty();
        for (ObjectNode entry : latest(contents.entries()).values()) {
            if (search.takes(entry) && speedUp(entry) > best.map(RouteChooser::speedUp).orElse(1.0)) {
                best = Optional.of(entry);
            }
        }
        if (best.isEmpty()) {
            reasons.addFirst("auto: the options as given, because nothing faster is qualified for " + RequestShape.text(search.shape)
                    + " here; kinema qualify does that");
            return new RouteChoice(given, false, reasons);
        }
        ObjectNode entry = best.get();
        Route route = Route.read(entry.path("candidate").path("options"));
        reasons.addFirst(String.format(Locale.ROOT, "auto: %s, qualified for %s here on %s: %.2f times as fast as the options as given, within all quality gates (entry %s)",
                route.beside(search.baseline), RequestShape.text(search.shape), entry.path("created").asText().replaceFirst("T.*", ""), speedUp(entry),
                entry.path("sha256").asText().substring(0, 12)));
        return new RouteChoice(route.on(given.model(), reasons.getFirst()), true, reasons);
    }

    /** Of each shape, baseline and candidate the entry that was written last, oldest first. */
    private static Map<String, ObjectNode> latest(List<ObjectNode> entries) {
        Map<String, ObjectNode> latest = new LinkedHashMap<>();
        for (ObjectNode entry : entries) {
            String key = CanonicalJson.text(entry.path("shape")) + CanonicalJson.text(entry.path("baseline").path("options"))
                    + CanonicalJson.text(entry.path("candidate").path("options"));
            latest.remove(key);
            latest.put(key, entry);
        }
        return latest;
    }

    private static double speedUp(ObjectNode entry) {
        return entry.path("speed_up").asDouble(0);
    }

    /** Looks at entries for one request; what the machine has is found out when the first entry could fit. */
    private static final class Search {
        private final EngineOptions given;
        private final ResolvedRequest request;
        private final List<String> reasons;
        private final ObjectNode shape;
        private final Route baseline;
        private Optional<RouteInputs> here = Optional.empty();

        Search(EngineOptions given, ResolvedRequest request, List<String> reasons) {
            this.given = given;
            this.request = request;
            this.reasons = reasons;
            this.shape = RequestShape.of(request);
            this.baseline = Route.of(given);
        }

        boolean takes(ObjectNode entry) {
            boolean fits = CanonicalJson.text(shape).equals(CanonicalJson.text(entry.path("shape"))) && baseline.same(entry.path("baseline").path("options"));
            if (!fits) {
                return false;
            }
            Route candidate = Route.read(entry.path("candidate").path("options"));
            String name = candidate.beside(baseline);
            if (!entry.path("verdict").asText().equals("qualified")) {
                reasons.add(name + ": not taken, it failed (" + entry.path("reasons").path(0).asText() + ")");
                return false;
            }
            List<String> changed = changed(entry, candidate);
            if (!changed.isEmpty()) {
                reasons.add(name + ": not taken, no longer qualified: " + String.join(", ", changed) + " changed since");
                return false;
            }
            if (speedUp(entry) <= 1) {
                reasons.add(String.format(Locale.ROOT, "%s: qualified but not faster (%.2f times)", name, speedUp(entry)));
                return false;
            }
            return true;
        }

        private List<String> changed(ObjectNode entry, Route candidate) {
            try {
                if (here.isEmpty()) {
                    here = Optional.of(RouteInputs.of(given, request.task()));
                }
                List<String> changed = new ArrayList<>(here.get().differences(entry.path("baseline").path("inputs")));
                if (changed.isEmpty()) {
                    changed.addAll(RouteInputs.of(candidate.on(given.model(), ""), request.task()).differences(entry.path("candidate").path("inputs")));
                }
                return changed;
            } catch (BadRequestException | BadWeightsException | IllegalStateException e) {
                return List.of(e.getMessage() + ", so something");
            }
        }
    }
}

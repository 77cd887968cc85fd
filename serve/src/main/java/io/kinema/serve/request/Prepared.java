package io.kinema.serve.request;

import io.kinema.engine.GenerateRequest;
import io.kinema.engine.plan.ResolvedRequest;
import java.util.List;
import java.util.Map;

/**
 * A call that can be queued.
 *
 * @param request  with its files in the staging folder
 * @param resolved with every default
 * @param dryRun   only plan it
 * @param notes    values snapped and defaults chosen, a sentence each
 * @param names    what the client called each file, by the file's name
 */
public record Prepared(GenerateRequest request, ResolvedRequest resolved, boolean dryRun, List<String> notes, Map<String, String> names) {
    public Prepared {
        names = Map.copyOf(names);
        notes = List.copyOf(notes);
    }
}

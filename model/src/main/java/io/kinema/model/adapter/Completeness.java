package io.kinema.model.adapter;

import io.kinema.weights.BadWeightsException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A known artefact reaches known layers: one that lacks some is cut or edited. */
final class Completeness {
    private static final int SHOWN = 3;

    private Completeness() {
    }

    static void require(String origin, KnownAdapter known, List<LowRankPair> pairs, TransformerTensors transformer) {
        Set<String> reached = pairs.stream().map(p -> p.target().module()).collect(Collectors.toSet());
        List<String> expected = transformer.shapes().keySet().stream().filter(n -> n.endsWith(".weight"))
                .map(n -> n.substring(0, n.length() - ".weight".length())).filter(m -> transformer.linear(m).isPresent())
                .filter(m -> expected(known.completeness(), m)).toList();
        List<String> missing = expected.stream().filter(m -> !reached.contains(m)).toList();
        if (!missing.isEmpty()) {
            throw new BadWeightsException(origin + ": " + (expected.size() - missing.size()) + " of " + expected.size() + " layers of " + known.name()
                    + " are there, the first missing are " + String.join(", ", missing.subList(0, Math.min(SHOWN, missing.size())))
                    + "; the file is cut or edited, fetch it again");
        }
    }

    private static boolean expected(KnownAdapter.Completeness completeness, String module) {
        boolean block = module.contains(".attn.") || module.contains(".ff.");
        boolean adaln = module.endsWith("adaln_proj.linear") || module.equals("norm_out.linear");
        return switch (completeness) {
            case ANY -> false;
            case BLOCKS -> block;
            case BLOCKS_AND_ADALN -> block || adaln;
        };
    }
}

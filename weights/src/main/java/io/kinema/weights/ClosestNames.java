package io.kinema.weights;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Suggestions for a tensor name that is not there. */
final class ClosestNames {
    private static final int SHOWN = 3;

    private ClosestNames() {
    }

    static BadWeightsException missing(String origin, String name, Collection<String> names) {
        List<String> closest = of(name, names);
        return new BadWeightsException(origin + ": no tensor " + name + " among " + names.size()
                + (closest.isEmpty() ? "" : "; the closest names are " + String.join(", ", closest))
                + "; the weights and the config do not belong together, or a key map is missing");
    }

    /** At most three names, those with the fewest differing characters first. */
    static List<String> of(String name, Collection<String> names) {
        record Scored(String name, int distance) {
        }
        return names.stream().map(n -> new Scored(n, distance(name, n)))
                .sorted(Comparator.comparingInt(Scored::distance).thenComparing(Scored::name))
                .limit(SHOWN).map(Scored::name).toList();
    }

    /** Levenshtein distance of the first 200 characters. */
    private static int distance(String left, String right) {
        String a = left.substring(0, Math.min(left.length(), 200));
        String b = right.substring(0, Math.min(right.length(), 200));
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int above = row[j];
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, 1 + Math.min(above, row[j - 1]));
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}

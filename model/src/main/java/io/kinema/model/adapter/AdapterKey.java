package io.kinema.model.adapter;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A tensor's name in an adapter file, taken apart.
 *
 * @param name      as in the file
 * @param module    what it belongs to, without the producer's prefix
 * @param kind      what it holds
 * @param infix     true with PEFT's {@code .default.} between kind and {@code weight}
 * @param partition stated by the prefix
 */
record AdapterKey(String name, String module, Kind kind, boolean infix, Optional<Partition> partition) {
    /** What a tensor holds. */
    enum Kind { DOWN, UP, ALPHA, WEIGHT_DIFF, BIAS_DIFF, SET_WEIGHT }

    /** Producers' prefixes; the order matters where one begins with another. */
    private static final List<String> PREFIXES = List.of("base_model.model.", "model.diffusion_model.", "diffusion_model.",
            "transformer_ref.", "transformer.", "model.", "lora_unet_");
    private static final Pattern LOW_RANK = Pattern.compile("(.+)\\.lora[_.](A|B|down|up)(\\.default)?\\.weight");

    /** The parts of {@code name}, or empty when it ends like no adapter tensor. */
    static Optional<AdapterKey> parse(String name) {
        String rest = name;
        Optional<Partition> partition = Optional.empty();
        for (Optional<String> prefix = prefix(rest); prefix.isPresent(); prefix = prefix(rest)) {
            if (prefix.get().equals("transformer_ref.")) {
                partition = Optional.of(Partition.TRANSFORMER_REF);
            } else if (prefix.get().equals("transformer.")) {
                partition = Optional.of(Partition.TRANSFORMER);
            }
            rest = rest.substring(prefix.get().length());
        }
        Matcher pair = LOW_RANK.matcher(rest);
        if (pair.matches()) {
            boolean down = pair.group(2).equals("A") || pair.group(2).equals("down");
            return Optional.of(new AdapterKey(name, pair.group(1), down ? Kind.DOWN : Kind.UP, pair.group(3) != null, partition));
        }
        String whole = rest;
        Optional<Partition> stated = partition;
        return ending(whole).map(e -> new AdapterKey(name, whole.substring(0, whole.length() - e.suffix().length()), e.kind(), false, stated));
    }

    private record Ending(String suffix, Kind kind) {
    }

    private static Optional<Ending> ending(String rest) {
        return Stream.of(new Ending(".alpha", Kind.ALPHA), new Ending(".diff", Kind.WEIGHT_DIFF),
                new Ending(".diff_b", Kind.BIAS_DIFF), new Ending(".set_weight", Kind.SET_WEIGHT)).filter(e -> rest.endsWith(e.suffix())).findFirst();
    }

    private static Optional<String> prefix(String name) {
        return PREFIXES.stream().filter(name::startsWith).findFirst();
    }
}

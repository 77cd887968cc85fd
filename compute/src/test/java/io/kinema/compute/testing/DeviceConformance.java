package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.reference.ReferenceBackend;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.stream.IntStream;

/**
 * A program for machines with devices that the build machine lacks: runs every case of {@link OpCases} on a device that some
 * provider on the class path offers, prints those that differ from the reference by more than 8 times the case's tolerance
 * for the CPU (a device's exponentials and sums are its own), and exits with their number.
 *
 * <p>Arguments: device, then attention kernels and kernel architecture, each {@code -} for the backend's own choice, then a share of the cases such
 * as {@code 2/8}, for tools under which they take long.
 */
public final class DeviceConformance {
    private static final double SLACK = 8;
    /** Attention on tensor cores rounds probabilities to FP16. */
    private static final double NARROW_ATTENTION = 1e-3;
    /**
     * Then both results are rounded to BF16. Values that lie e apart round to different neighbours, a step s apart, once in s / e: their mean square is e s,
     * with e at most 6e-4 and s at most 2^-7 of a value.
     */
    private static final double BF16_ATTENTION = 2.2e-3;

    private DeviceConformance() {
    }

    public static void main(String[] args) {
        BackendOptions options = new BackendOptions(chosen(args, 1), OptionalInt.empty(), chosen(args, 2).map(a -> OptionalInt.of(Integer.parseInt(a)))
                .orElse(OptionalInt.empty()), OptionalLong.empty());
        BackendProvider provider = ServiceLoader.load(BackendProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(p -> p.serves(args[0])).findFirst().orElseThrow(() -> new IllegalArgumentException("no provider for " + args[0]));
        int[] counts = new int[2];
        try (Backend device = provider.open(args[0], options); Backend reference = new ReferenceBackend()) {
            Backend mirrored = MirroredBackend.of(device);
            share(chosen(args, 3).orElse("0/1")).forEach(op -> counts[passes(op, reference, mirrored) ? 0 : 1]++);
            device.choices().forEach((what, choice) -> System.out.println("  " + what + ": " + choice));
        }
        System.out.println("conformance " + String.join(" ", args) + ": " + counts[0] + " cases agree, " + counts[1] + " do not");
        System.exit(Math.min(counts[1], 100));
    }

    /** Every n-th case. */
    private static List<OpCase> share(String which) {
        String[] part = which.split("/");
        List<OpCase> all = OpCases.all().toList();
        return IntStream.range(0, all.size()).filter(i -> i % Integer.parseInt(part[1]) == Integer.parseInt(part[0])).mapToObj(all::get).toList();
    }

    private static Optional<String> chosen(String[] args, int index) {
        return args.length > index && !args[index].equals("-") ? Optional.of(args[index]) : Optional.empty();
    }

    private static boolean passes(OpCase op, Backend reference, Backend device) {
        double limit = limit(op);
        try {
            double error = Values.relativeL2(op.on(device), op.on(reference));
            boolean good = error <= limit;
            if (!good) {
                System.out.println(String.format(Locale.ROOT, "DIFFERS %s: relative L2 %.3g, limit %.3g", op, error, limit));
            }
            return good;
        } catch (RuntimeException | LinkageError e) {
            System.out.println("FAILED " + op + ": " + e);
            return false;
        }
    }

    private static double limit(OpCase op) {
        if (op.name().startsWith("attention") && op.name().endsWith("F16")) {
            return op.name().endsWith("BF16") ? BF16_ATTENTION : NARROW_ATTENTION;
        }
        return op.tolerance() == 0 ? 0 : SLACK * op.tolerance();
    }
}

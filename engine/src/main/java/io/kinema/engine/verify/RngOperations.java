package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.noise.TorchRandom;
import java.util.Arrays;
import java.util.Map;

/** Draws of PyTorch's CPU generator. */
final class RngOperations implements Operations {
    private static final int MOST = 1 << 26;

    @Override
    public Map<String, Operation> byName() {
        return Map.of("randn", RngOperations::randn, "rand", RngOperations::rand,
                "random64_modulo", RngOperations::random64, "randn_sequence", RngOperations::sequence);
    }

    private static Answer randn(Question q) {
        return Answer.of(randn(q, new TorchRandom(q.longInteger("seed")), q.check().args()));
    }

    private static Answer sequence(Question q) {
        TorchRandom random = new TorchRandom(q.longInteger("seed"));
        Answer.Builder answer = new Answer.Builder();
        int i = 0;
        for (JsonNode draw : q.argument("draws")) {
            answer.put("" + i++, randn(q, random, draw));
        }
        return answer.build();
    }

    private static Values randn(Question q, TorchRandom random, JsonNode draw) {
        long[] dims = dims(q, draw);
        int n = count(dims);
        return wide(q, draw) ? Values.doubles(random.randnDouble(n), dims) : Values.floats(random.randn(n), dims);
    }

    private static Answer rand(Question q) {
        long[] dims = dims(q, q.check().args());
        TorchRandom random = new TorchRandom(q.longInteger("seed"));
        int n = count(dims);
        return Answer.of(wide(q, q.check().args()) ? Values.doubles(random.randDouble(n), dims) : Values.floats(random.rand(n), dims));
    }

    private static Answer random64(Question q) {
        long[] dims = dims(q, q.check().args());
        if (q.longInteger("modulo") < 1) {
            throw q.bad("modulo", q.argument("modulo"), "expected 1 or more");
        }
        return Answer.of(Values.longs(new TorchRandom(q.longInteger("seed")).random64(count(dims), q.longInteger("modulo")), dims));
    }

    private static long[] dims(Question q, JsonNode draw) {
        long[] dims = Arrays.stream(q.integers("shape", draw.path("shape"))).asLongStream().toArray();
        double elements = Arrays.stream(dims).asDoubleStream().reduce(1, (a, b) -> a * b);
        if (Arrays.stream(dims).anyMatch(d -> d < 0) || elements > MOST) {
            throw q.bad("shape", draw.path("shape"), "expected sizes of 0 or more and at most " + MOST + " draws");
        }
        return dims;
    }

    private static int count(long[] dims) {
        return Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact));
    }

    private static boolean wide(Question q, JsonNode draw) {
        return switch (draw.path("dtype").asText("float32")) {
            case "float32" -> false;
            case "float64" -> true;
            default -> throw q.bad("dtype", draw.path("dtype"), "expected float32 or float64");
        };
    }
}

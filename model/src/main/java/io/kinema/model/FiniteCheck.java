package io.kinema.model;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Stops at the first block whose output is not finite. Give it to a network's forward as its tap; it looks only at whole
 * blocks' outputs ({@code block7}), so it makes a network compute nothing extra. On a device each look is a download.
 */
public final class FiniteCheck implements StageTap {
    private static final Predicate<String> BLOCK = Pattern.compile("block\\d+").asMatchPredicate();

    private final Backend backend;
    private final String step;

    /** @param step named in the message: {@code step 3 of 8} */
    public FiniteCheck(Backend backend, String step) {
        this.backend = backend;
        this.step = step;
    }

    @Override
    public boolean wants(String name) {
        return BLOCK.test(name);
    }

    /** @throws NonFiniteException when {@code value} holds NaN or an infinity */
    @Override
    public void stage(String name, Tensor value) {
        if (!wants(name)) {
            return;
        }
        float[] values = onHost(value).toFloats();
        for (int i = 0; i < values.length; i++) {
            if (!Float.isFinite(values[i])) {
                int width = value.size(-1);
                throw new NonFiniteException(step + ", " + name + ": row " + i / width + ", channel " + i % width + " is " + values[i]
                        + ", expected finite values; use a precision plan with more range (fp32) or check the weights and adapters");
            }
        }
    }

    private Tensor onHost(Tensor value) {
        if (value.device().kind() == Device.Kind.CPU) {
            return value;
        }
        Tensor host = Tensor.ofFloats(new float[Math.toIntExact(value.elements())], value.shape().toArray());
        backend.copy(value, host);
        backend.finish();
        return host;
    }
}

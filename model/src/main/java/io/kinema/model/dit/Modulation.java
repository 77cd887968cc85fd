package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Owns the AdaLN tables of all blocks and of the output norm for a set of timesteps, until it is closed. They depend on
 * the timestep alone, so one evaluation serves all steps and all outputs of a request, and the projections that made them
 * are not needed afterwards. Made by {@link Transformer#modulation}; closing twice is harmless. Kept in FP32, so a step that reads
 * them computes the same bits as one that evaluates the projections in place.
 */
public final class Modulation extends RankPart<Modulation> {
    private final Workspace memory;
    private final AdaptersInForce adapters;
    private final Map<Integer, Integer> rowOfBits;
    private final List<Tensor> blocks;
    private final Tensor output;
    private final int hidden;

    /**
     * @param adapters  in force when it was made
     * @param timesteps distinct by bits, in table order
     * @param blocks    per block FP32 [T * 3, 6 * hidden]: row t * 3 + modality
     * @param output    FP32 [T, 2 * hidden]
     */
    Modulation(Workspace memory, AdaptersInForce adapters, float[] timesteps, List<Tensor> blocks, Tensor output, int hidden) {
        this.memory = memory;
        this.adapters = adapters;
        this.rowOfBits = new LinkedHashMap<>();
        for (float t : timesteps) {
            rowOfBits.put(Float.floatToRawIntBits(t), rowOfBits.size());
        }
        this.blocks = List.copyOf(blocks);
        this.output = output;
        this.hidden = hidden;
    }

    @Override
    Modulation self() {
        return this;
    }

    @Override
    long ownBytes() {
        return memory.bytes();
    }

    /** True when this timestep was evaluated, compared by its bits. */
    public boolean has(float timestep) {
        return rowOfBits.containsKey(Float.floatToRawIntBits(timestep));
    }

    /** The adapters it was made with. */
    AdaptersInForce adapters() {
        return adapters;
    }

    /** Table row of a timestep. @throws IllegalArgumentException when it was not evaluated */
    int row(float timestep) {
        Integer row = rowOfBits.get(Float.floatToRawIntBits(timestep));
        if (row == null) {
            throw new IllegalArgumentException("modulation: got timestep " + timestep + ", expected one of those evaluated: "
                    + rowOfBits.keySet().stream().map(Float::intBitsToFloat).toList());
        }
        return row;
    }

    /** Part {@code part} of block {@code block}'s table, [T * 3, hidden]. */
    Tensor part(int block, Part part) {
        return blocks.get(block).slice(1, (long) part.ordinal() * hidden, (part.ordinal() + 1L) * hidden);
    }

    Tensor outputShift() {
        return output.slice(1, 0, hidden);
    }

    Tensor outputScale() {
        return output.slice(1, hidden, 2L * hidden);
    }

    @Override
    void closeOwn() {
        memory.close();
    }

    /** What a block's table holds, in the checkpoint's order. */
    enum Part {
        ATTENTION_SHIFT, ATTENTION_SCALE, ATTENTION_GATE, FEED_FORWARD_SHIFT, FEED_FORWARD_SCALE, FEED_FORWARD_GATE;

        static final int COUNT = values().length;
    }
}

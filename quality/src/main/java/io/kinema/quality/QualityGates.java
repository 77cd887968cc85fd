package io.kinema.quality;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The limits that a candidate is held to. They start as {@link #published()}; {@link #tighten} only makes them stricter, and only
 * {@link #relax} makes them looser, after which every verdict says so.
 */
public final class QualityGates {
    private static final QualityGates PUBLISHED = new QualityGates(new EnumMap<>(Gate.class));

    private final EnumMap<Gate, Double> stated;

    private QualityGates(EnumMap<Gate, Double> stated) {
        this.stated = stated;
    }

    /** Latents at most 0.01, PSNR at least 40 dB, SSIM and spectral cosine at least 0.99, RMS ratios within 1%. */
    public static QualityGates published() {
        return PUBLISHED;
    }

    /**
     * These gates with a limit at least as strict as the published one.
     *
     * @param limit for {@link Gate#RMS_RATIO} the largest distance from 1
     * @throws IllegalArgumentException when it is looser than the published one, or no limit at all
     */
    public QualityGates tighten(Gate gate, double limit) {
        if (gate.isRelaxedBy(limit)) {
            throw new IllegalArgumentException(gate.label() + ": got " + Numbers.plain(limit) + ", looser than the published "
                    + Numbers.plain(gate.published()) + "; a gate is relaxed only explicitly");
        }
        return with(gate, limit);
    }

    /** These gates with any limit; {@link #isRelaxed()} says whether it is looser. @throws IllegalArgumentException when it is no limit */
    public QualityGates relax(Gate gate, double limit) {
        return with(gate, limit);
    }

    private QualityGates with(Gate gate, double limit) {
        if (!gate.takes(limit)) {
            throw new IllegalArgumentException(gate.label() + ": got a limit of " + Numbers.plain(limit) + ", expected a number such as "
                    + Numbers.plain(gate.published()));
        }
        EnumMap<Gate, Double> changed = new EnumMap<>(stated);
        changed.put(gate, limit);
        return new QualityGates(changed);
    }

    /** The limit in force. */
    public double limit(Gate gate) {
        return stated.getOrDefault(gate, gate.published());
    }

    /** Whether any limit in force is looser than the published one. */
    public boolean isRelaxed() {
        return Arrays.stream(Gate.values()).anyMatch(gate -> gate.isRelaxedBy(limit(gate)));
    }

    /**
     * Judges what was measured.
     *
     * @param measured a number for each gate that could be measured; NaN fails its gate
     */
    public Verdict judge(Map<Gate, Double> measured) {
        List<GateLine> lines = new ArrayList<>();
        List<Gate> missing = new ArrayList<>();
        for (Gate gate : Gate.values()) {
            Double got = measured.get(gate);
            if (got == null && Gate.OF_CLIPS.contains(gate)) {
                missing.add(gate);
            } else if (got != null) {
                lines.add(new GateLine(gate, got, limit(gate), gate.passes(got, limit(gate))));
            }
        }
        return new Verdict(lines, missing, isRelaxed());
    }
}

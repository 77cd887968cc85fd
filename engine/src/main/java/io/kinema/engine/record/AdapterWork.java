package io.kinema.engine.record;

import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.LowRankPair;
import java.util.HashSet;
import java.util.Set;

/**
 * Floating-point operations that an adapter adds, for each row of the layers that it reaches, by a closed formula. An A that several
 * layers of one module share counts once.
 *
 * @param block    for each row of the packed sequence
 * @param text     for each text row
 * @param timestep for each distinct timestep
 * @param videoIn  for each video row
 * @param audioIn  for each audio row
 * @param videoOut for each generated video row
 * @param audioOut for each generated audio row
 * @param blockAgain part of {@code block} that every rank executes: the B of layers whose inputs are spread over ranks
 * @param textAgain  the same of {@code text}
 */
public record AdapterWork(long block, long text, long timestep, long videoIn, long audioIn, long videoOut, long audioOut, long blockAgain, long textAgain) {
    /** No adapter. */
    public static final AdapterWork NONE = new AdapterWork(0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** Of an adapter's low-rank pairs; what is fused into weights adds nothing. */
    public static AdapterWork of(Adapter adapter) {
        if (adapter.fused()) {
            return NONE;
        }
        AdapterWork sum = NONE;
        Set<String> downs = new HashSet<>();
        for (LowRankPair pair : adapter.pairs()) {
            if (pair.rank() > 0) {
                boolean shared = !downs.add(pair.down().name() + " " + pair.from() + " " + pair.to());
                long up = 2L * pair.rank() * pair.up().shape().dim(0);
                sum = sum.plus(at(pair.target().module(), up + (shared ? 0 : 2L * pair.rank() * pair.down().shape().dim(1)), up));
            }
        }
        return sum;
    }

    /** @param up part of {@code flops} that B's product is */
    private static AdapterWork at(String module, long flops, long up) {
        boolean layer = module.contains(".attn.") || module.contains(".ff.");
        long again = module.endsWith(".attn.to_out.0") || module.endsWith(".ff.net.2") ? up : 0;
        return switch (module) {
            case "proj_in" -> new AdapterWork(0, 0, 0, flops, 0, 0, 0, 0, 0);
            case "audio_proj_in" -> new AdapterWork(0, 0, 0, 0, flops, 0, 0, 0, 0);
            case "proj_out" -> new AdapterWork(0, 0, 0, 0, 0, flops, 0, 0, 0);
            case "audio_proj_out" -> new AdapterWork(0, 0, 0, 0, 0, 0, flops, 0, 0);
            case "context_embedder" -> new AdapterWork(0, flops, 0, 0, 0, 0, 0, 0, 0);
            default -> layer && module.startsWith("token_refiner") ? new AdapterWork(0, flops, 0, 0, 0, 0, 0, 0, again)
                    : layer ? new AdapterWork(flops, 0, 0, 0, 0, 0, 0, again, 0) : new AdapterWork(0, 0, flops, 0, 0, 0, 0, 0, 0);
        };
    }

    /** This and another adapter's. */
    public AdapterWork plus(AdapterWork other) {
        return new AdapterWork(block + other.block, text + other.text, timestep + other.timestep, videoIn + other.videoIn, audioIn + other.audioIn,
                videoOut + other.videoOut, audioOut + other.audioOut, blockAgain + other.blockAgain, textAgain + other.textAgain);
    }

    /** In one step, on all ranks together. @param ranks that the transformer is spread over */
    public long step(UsefulWork.Rows rows, int ranks) {
        return (block + (ranks - 1) * blockAgain) * rows.all() + videoIn * rows.video() + audioIn * rows.audio() + videoOut * rows.generatedVideo()
                + audioOut * rows.generatedAudio();
    }

    /** In what all steps of a request share, likewise. */
    public long preparation(UsefulWork.Rows rows, int timesteps, int ranks) {
        return (text + (ranks - 1) * textAgain) * rows.text() + timestep * timesteps;
    }
}

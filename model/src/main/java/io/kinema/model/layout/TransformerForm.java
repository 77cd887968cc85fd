package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.List;
import java.util.Optional;

/**
 * What a transformer's weights say of themselves, beyond any config: read from names, shapes and encodings, never from the
 * name of a file.
 *
 * @param layout how names and rows lie
 * @param curve  of pruned weights
 */
public record TransformerForm(WeightLayout layout, Optional<DitConfig.Curve> curve) {
    /** What can be read, for messages. */
    public static final String UNDERSTOOD = "the diffusers layout (proj_in.weight ...), MiniMax's original layout (video_patch_proj.weight ..., with its "
            + "config.json) and ComfyUI's and GGUF files of those names (q, k and v stacked; bare or with the prefix model.diffusion_model.)";

    private static final List<String> DIFFUSERS_NAMES = List.of("proj_in.weight", "audio_proj_in.weight");
    /** Both are in every transformer of the original layout, and in files that other programs made from it. */
    private static final List<String> ORIGINAL_NAMES = List.of("video_patch_proj.weight", "audio_patch_proj.weight");
    private static final String FAST_VIDEO_CURVE = "adaln_basis.weight";

    /**
     * MiniMax's names do not say in which order q, k and v rows lie: MiniMax interleaves them, files that other programs wrote
     * under the same names stack them. Reading one as the other gives a model of the right shape that makes noise. Coded matrices,
     * a pruned AdaLN and GGUF exist only in files made from ComfyUI's; for plain floats somebody must say.
     *
     * @param stored     the weights, without prefix
     * @param repack     whether their container is one that only such programs write
     * @param stated     by whoever named the weights; taken as it is
     * @param configured by the config that lies beside them
     * @throws BadWeightsException when the names are no transformer's of H3, or nothing says how its rows lie
     */
    public static TransformerForm of(TensorSource stored, boolean repack, Optional<WeightLayout> stated, Optional<WeightLayout> configured) {
        Optional<DitConfig.Curve> curve = curve(stored);
        if (holds(stored, DIFFUSERS_NAMES)) {
            return new TransformerForm(WeightLayout.DIFFUSERS, curve);
        }
        if (!holds(stored, ORIGINAL_NAMES)) {
            throw new BadWeightsException(stored.origin() + ": no transformer of H3 by its tensor names (" + first(stored) + "); understood are " + UNDERSTOOD);
        }
        boolean made = repack || curve.isPresent() || stored.names().stream().anyMatch(n -> stored.header(n).flatMap(TensorHeader::dtype).isEmpty());
        WeightLayout layout = stated.or(() -> made ? Optional.of(WeightLayout.COMFYUI) : configured)
                .orElseThrow(() -> new BadWeightsException(stored.origin() + ": has the original layout's tensor names and no config.json beside it, so the order of its QKV "
                        + "rows is unknown; say --transformer-layout comfyui for a ComfyUI file, give the partition's transformer folder, or weights in the diffusers layout"));
        return new TransformerForm(layout, curve);
    }

    /** A config with what the weights say added. @param config in the diffusers layout's terms */
    public JsonNode completed(JsonNode config) {
        ObjectNode all = config.deepCopy();
        all.remove(List.of(DitConfig.CURVE_POINTS, DitConfig.CURVE_RANK));
        curve.ifPresent(c -> all.put(DitConfig.CURVE_POINTS, c.points()).put(DitConfig.CURVE_RANK, c.rank()));
        return all;
    }

    private static Optional<DitConfig.Curve> curve(TensorSource stored) {
        if (stored.header(FAST_VIDEO_CURVE).isPresent()) {
            throw new BadWeightsException(stored.origin() + ": tensor " + FAST_VIDEO_CURVE + " is of FastVideo's pruned form, which cannot be read; understood is "
                    + "the one with " + DitTensors.CURVE_TABLE);
        }
        return stored.header(DitTensors.CURVE_TABLE).map(table -> {
            Shape shape = table.shape();
            if (shape.rank() != 2 || shape.dim(0) < 2 || shape.dim(1) < 1) {
                throw new BadWeightsException(table.file() + ": tensor " + DitTensors.CURVE_TABLE + " has shape " + shape
                        + ", expected at least two points of at least one value; the file is damaged");
            }
            return new DitConfig.Curve(shape.size(0), shape.size(1));
        });
    }

    private static boolean holds(TensorSource stored, List<String> names) {
        return names.stream().allMatch(n -> stored.header(n).isPresent());
    }

    private static String first(TensorSource stored) {
        return String.join(", ", stored.names().stream().limit(3).toList());
    }
}

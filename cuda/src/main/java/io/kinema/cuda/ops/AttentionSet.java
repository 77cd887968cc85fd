package io.kinema.cuda.ops;

import io.kinema.cuda.dnn.CudnnSdpa;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Puts together which attention kernels are asked in which order. */
public final class AttentionSet {
    private AttentionSet() {
    }

    /**
     * @param choice      {@code auto}, {@code cudnn}, {@code flash} or {@code reference}
     * @param tile        query tile of flash attention, the fastest when empty
     * @param target      what the loaded kernels were built for: {@code sm_70}, {@code sm_80} or {@code sm_90a}
     * @param hopper      present with kernels for {@code sm_90a}
     */
    public static CudaAttention of(OpContext context, Optional<CudnnSdpa> cudnn, String choice, OptionalInt tile, String target,
                                  Optional<FlashHopper> hopper) {
        BuiltInAttention.Images images = target.equals("sm_70") ? BuiltInAttention.Images.VOLTA
                : target.equals("sm_80") ? BuiltInAttention.Images.AMPERE : BuiltInAttention.Images.HOPPER;
        int queryTile = images.queryTile(tile);
        AttentionKernels reference = BuiltInAttention.REFERENCE.on(context, queryTile, images, hopper);
        AttentionKernels tiled = BuiltInAttention.TILED.on(context, queryTile, images, hopper);
        AttentionKernels flash = BuiltInAttention.FLASH.on(context, queryTile, images, hopper);
        List<AttentionKernels> narrow = new ArrayList<>();
        switch (choice) {
            case "auto" -> {
                narrow.add(new FewKeys(flash, tiled));
                // Measured on an H200 at 34,551 rows and 56 heads of 128: flash 56.2 ms, cuDNN 59.5 ms. Elsewhere flash has no wgmma.
                if (images == BuiltInAttention.Images.HOPPER) {
                    narrow.add(flash);
                }
                cudnn.ifPresent(c -> narrow.add(new CudnnAttention(context, c)));
                narrow.addAll(List.of(flash, reference));
            }
            case "cudnn" -> {
                narrow.add(new CudnnAttention(context, cudnn.orElseThrow()));
                narrow.add(flash);
            }
            case "flash" -> narrow.add(flash);
            case "reference" -> narrow.add(reference);
            default -> throw new IllegalArgumentException("attention backend: got '" + choice + "', expected auto, cudnn, flash or reference");
        }
        return new CudaAttention(context, narrow, choice.equals("reference") ? List.of(reference) : List.of(tiled, reference));
    }
}

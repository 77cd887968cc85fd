package io.kinema.weights.prepared;

import io.kinema.fuzz.Refusals;

/** Any bytes as the manifest or the ready marker of prepared weights: refused, or what is read covers its file and is written back the same. */
public final class PreparedManifestFuzz {
    private PreparedManifestFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Refusals.allow(() -> {
            PreparedManifest manifest = PreparedManifest.parse(data);
            long covered = 0;
            for (int i = 0; i < manifest.tensors().size(); i++) {
                PreparedManifest.Tensor tensor = manifest.tensors().get(i);
                if (tensor.size() < 0 || tensor.size() > manifest.span(i) || manifest.span(i) - tensor.size() >= PreparedManifest.ALIGNMENT) {
                    throw new AssertionError(tensor + " in a span of " + manifest.span(i) + " bytes");
                }
                covered += manifest.span(i);
            }
            if (covered != manifest.bytes() || !PreparedManifest.parse(manifest.toBytes()).equals(manifest)) {
                throw new AssertionError("covers " + covered + " of " + manifest.bytes() + " bytes: " + manifest);
            }
        });
        Refusals.allow(() -> {
            ReadyMarker marker = ReadyMarker.parse(data);
            if (!ReadyMarker.parse(marker.toBytes()).equals(marker)) {
                throw new AssertionError("" + marker);
            }
        });
    }
}

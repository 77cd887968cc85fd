package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.model.dit.DitConfig;

/** Whether a transformer has as many layers as are to stay on the device. */
public final class LayerRules {
    private LayerRules() {
    }

    /** @throws BadRequestException when it has fewer */
    public static void require(int residentLayers, DitConfig config) {
        if (residentLayers > config.layers()) {
            throw new BadRequestException("residentLayers", "" + residentLayers, "expected 0 to " + config.layers() + ", the layers of this transformer; "
                    + config.layers() + " keeps all of them");
        }
    }
}

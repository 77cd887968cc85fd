package io.kinema.engine;

import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.AdapterFiles;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.media.container.HeaderReader;
import io.kinema.media.image.ImageHeader;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;
import java.nio.file.Path;

/** Reads the sizes of pictures, and the lengths of videos and sounds, from their headers. */
final class FileHeaders {
    private FileHeaders() {
    }

    /** A resolver that looks at the files which a request names. */
    static RequestResolver resolver(ModelGeometry model, AdapterFiles adapters) {
        return new RequestResolver(model, FileHeaders::size, HeaderReader::read, adapters);
    }

    /** Width and height as seen upright. */
    static PictureSizes.Size size(Path file) {
        ImageHeader header = ImageReader.header(file, ImageLimits.DEFAULT);
        int width = Math.toIntExact(header.width());
        int height = Math.toIntExact(header.height());
        return header.orientation().swapsSides() ? new PictureSizes.Size(height, width) : new PictureSizes.Size(width, height);
    }
}

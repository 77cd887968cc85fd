package io.kinema.media.image;

/** Picture formats that can be read; decided by a file's first bytes, never by its name. */
public enum ImageFormat {
    PNG, JPEG, WEBP, HEIF
}

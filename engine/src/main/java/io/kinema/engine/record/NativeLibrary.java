package io.kinema.engine.record;

/**
 * A native library that took part.
 *
 * @param name   of its file
 * @param sha256 of its content
 */
public record NativeLibrary(String name, String sha256) {
}

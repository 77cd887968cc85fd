/**
 * Fuzz targets: one class for each thing that reads bytes from outside. A target is a {@code fuzzerTestOneInput(byte[])} that
 * returns for anything accepted or refused in one line, and throws for anything else.
 */
package io.kinema.fuzz;

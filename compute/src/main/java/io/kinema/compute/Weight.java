package io.kinema.compute;

/**
 * A matrix that linear layers multiply by, in one of the storage kinds a kernel can read. Logically always
 * [outFeatures, inFeatures] as checkpoints store it. Dispatch asks for the kind, never for a name.
 */
public sealed interface Weight permits DenseWeight {
    int outFeatures();

    int inFeatures();
}

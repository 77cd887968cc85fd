/**
 * From a resolved request to frames and sound: text encoding, condition encoding, the denoising loop, decoding. One pipeline
 * serves t2va, fl2va and ref2va; they differ in their {@link io.kinema.engine.pipeline.ConditionMedia} only.
 */
package io.kinema.engine.pipeline;

/**
 * Noise from a seed: {@link io.kinema.engine.noise.TorchRandom} gives PyTorch's CPU streams,
 * {@link io.kinema.engine.noise.RequestNoise} draws from them in the order that belongs to a request. Everything is computed
 * with {@link java.lang.StrictMath}, so a seed gives the same bits on every machine.
 */
package io.kinema.engine.noise;

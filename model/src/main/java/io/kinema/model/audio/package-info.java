/**
 * The audio VAE: mono samples to latents and back; stereo is a batch of two.
 *
 * <p>Start at {@link io.kinema.model.audio.AudioVae}. The encoder is a strided convolutional stack ({@code DacEncoder})
 * and a causal attention block ({@code AttentionProjection}); the decoder is {@code BigVganDecoder}, built of
 * {@code ResidualStack}s and {@code AliasFreeSnake}s. {@code WeightNorm} folds normalised weights at load.
 */
package io.kinema.model.audio;

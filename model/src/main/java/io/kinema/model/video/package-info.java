/**
 * The video VAE: frames to latents and back.
 *
 * <p>Start at {@link io.kinema.model.video.VideoVae}. Encoding walks clips ({@code ClipEncoder}) and tiles through the
 * convolutional {@code VideoEncoder}; decoding walks chunks ({@code ChunkDecoder}) and tiles through the transformer
 * {@code VitDecoder}, and hands frames to a {@link io.kinema.model.video.FrameSink} as soon as they are final.
 * {@link io.kinema.model.video.ClipTiming} says how frames and latent frames correspond,
 * {@link io.kinema.model.video.TileGrid} where tiles lie, {@code TileStitcher} how neighbours fade.
 * What surrounds the networks is beside them: {@link io.kinema.model.video.ImageNetPixels} and
 * {@link io.kinema.model.video.DiagonalPosterior}.
 */
package io.kinema.model.video;

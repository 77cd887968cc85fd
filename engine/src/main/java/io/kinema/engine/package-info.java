/**
 * The API of Kinema: {@link io.kinema.engine.H3Engine} turns a {@link io.kinema.engine.GenerateRequest} into a
 * {@link io.kinema.engine.Clip}. Wrong requests are {@link io.kinema.engine.BadRequestException}, wrong weights
 * {@link io.kinema.weights.BadWeightsException}, wrong media or output files {@link io.kinema.media.BadMediaException}; each
 * message is one line.
 */
package io.kinema.engine;

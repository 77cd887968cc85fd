/**
 * Time: {@link io.kinema.engine.schedule.SigmaGrid} holds the noise levels of one modality,
 * {@link io.kinema.engine.schedule.EulerStep} moves latents from one to the next,
 * {@link io.kinema.engine.schedule.RowTimesteps} says at which timestep each packed row is. H3's time runs from 0 (noise) to 1
 * (clean).
 */
package io.kinema.engine.schedule;

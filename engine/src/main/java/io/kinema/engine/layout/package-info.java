/**
 * The packed sequence: how many latents a clip has ({@link io.kinema.engine.layout.FrameCounts}), how they become rows
 * ({@link io.kinema.engine.layout.Patch}), and where every row lies, what it carries and where it stands on the rotary clock
 * ({@link io.kinema.engine.layout.PackedLayout}).
 */
package io.kinema.engine.layout;

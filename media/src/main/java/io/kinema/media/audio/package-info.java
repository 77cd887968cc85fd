/** Sounds: reading, writing WAV, and resampling exactly as torchaudio does. */
package io.kinema.media.audio;

/** Pictures, video and sound: what reading and writing them have in common. */
package io.kinema.media;

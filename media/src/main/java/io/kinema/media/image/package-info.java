/** Pictures: reading PNG, JPEG and WebP as Pillow does, writing PNG, and scaling exactly as Pillow and torch do. */
package io.kinema.media.image;

/** The text encoder, with its vision tower. */
package io.kinema.model.text;

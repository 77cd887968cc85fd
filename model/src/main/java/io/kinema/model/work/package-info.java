/** Counts the floating-point operations that a network executed, where they are executed and from the shapes they had. */
package io.kinema.model.work;

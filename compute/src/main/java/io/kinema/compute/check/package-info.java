/** The rules for arguments, the same for all backends. */
package io.kinema.compute.check;

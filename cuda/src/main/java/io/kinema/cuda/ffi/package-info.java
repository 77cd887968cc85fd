/** Native libraries without native code of our own: annotated records of method handles, and where the libraries lie. */
package io.kinema.cuda.ffi;

/** The operations of a backend, each a launch or a few; arguments were checked by {@link io.kinema.compute.check.CheckedBackend}. */
package io.kinema.cuda.ops;

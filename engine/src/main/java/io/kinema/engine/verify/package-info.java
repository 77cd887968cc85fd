/**
 * Runs golden cases: numbers made with the reference implementation, in the format that {@code testdata/goldens/README.md}
 * defines. {@link io.kinema.engine.verify.Verifier} is the way in; each component's operations are one class.
 */
package io.kinema.engine.verify;

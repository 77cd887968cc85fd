/** Bench contracts, qualification of a configuration on this machine, and what an installation can run. */
package io.kinema.measure;

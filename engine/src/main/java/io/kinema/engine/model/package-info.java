/** Model folders: where the components lie, and the sizes that requests are checked against. Reads configs, never weights. */
package io.kinema.engine.model;

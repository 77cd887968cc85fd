/** Reading a network's parameters: names, shapes, rounding, and where repeated blocks live. */
package io.kinema.model.load;

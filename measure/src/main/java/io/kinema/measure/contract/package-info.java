/** What a measurement promises beforehand: the request, how it runs, and the limits it is held to. */
package io.kinema.measure.contract;

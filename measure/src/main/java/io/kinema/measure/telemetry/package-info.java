/** Samples of the machine's state beside a measurement: clocks, load, memory, and the sensors of devices where there are some. */
package io.kinema.measure.telemetry;

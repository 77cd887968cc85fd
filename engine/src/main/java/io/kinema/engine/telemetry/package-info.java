/** What a running engine tells the outside: Flight Recorder events and Micrometer metrics. Neither ever holds a prompt or a path. */
package io.kinema.engine.telemetry;

/** Flight Recorder events of data that moves. They cost next to nothing while nobody records. */
package io.kinema.compute.event;

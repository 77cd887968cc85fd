/** The CUDA driver API: devices, contexts, streams, events, graphs and modules, each owned and closed by someone. */
package io.kinema.cuda.driver;

/** The kinema command: options, progress, messages and exit codes. The only room that prints, logs or ends the process. */
package io.kinema.cli;

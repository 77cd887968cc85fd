/** A comparison shown: as a table for a terminal, as JSON, as one HTML file. */
package io.kinema.quality.report;

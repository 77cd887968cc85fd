package io.kinema.model.dit;

import java.util.Arrays;

/**
 * Which table rows the packed rows of one step read.
 *
 * @param ada          per packed row: timestep row * 3 + modality
 * @param output       per packed row: timestep row
 * @param wantedOutput {@code output} of the wanted rows
 */
record RowTables(int[] ada, int[] output, int[] wantedOutput) {

    static RowTables of(DitLayout layout, Modulation modulation, float[] rowTimesteps) {
        int rows = layout.rows();
        if (rowTimesteps.length != rows) {
            throw new IllegalArgumentException("dit row timesteps: got " + rowTimesteps.length + ", expected one for each of " + rows + " rows");
        }
        int[] ada = new int[rows];
        int[] output = new int[rows];
        for (int r = 0; r < rows; r++) {
            // Neighbours mostly share a timestep: look up only where it changes.
            boolean same = r > 0 && Float.floatToRawIntBits(rowTimesteps[r]) == Float.floatToRawIntBits(rowTimesteps[r - 1]);
            output[r] = same ? output[r - 1] : modulation.row(rowTimesteps[r]);
            ada[r] = output[r] * DitConfig.MODALITIES + layout.tag(r);
        }
        return new RowTables(ada, output, Arrays.stream(layout.wanted()).map(r -> output[r]).toArray());
    }
}

package io.kinema.model.load;

/**
 * What bringing blocks to where they are used has taken so far.
 *
 * @param residentBlocks that stay
 * @param stagedBlocks   how often a block was brought
 * @param stagedBytes    written for them: copies on a device, or rounded on the host; views of a checkpoint take none
 * @param stagingSeconds that bringing them took, beside the computation or not
 * @param stallSeconds   that the computation waited for them, on its own device
 */
public record StagingReport(int residentBlocks, long stagedBlocks, long stagedBytes, double stagingSeconds, double stallSeconds) {
    /** Nothing was staged. */
    public static final StagingReport NONE = new StagingReport(0, 0, 0, 0, 0);

    /** Both together. */
    public StagingReport plus(StagingReport other) {
        return new StagingReport(residentBlocks + other.residentBlocks, stagedBlocks + other.stagedBlocks, stagedBytes + other.stagedBytes,
                stagingSeconds + other.stagingSeconds, stallSeconds + other.stallSeconds);
    }

    /** The same with another number of resident blocks. */
    public StagingReport resident(int blocks) {
        return new StagingReport(blocks, stagedBlocks, stagedBytes, stagingSeconds, stallSeconds);
    }

    /** What came since {@code earlier}; the resident blocks are those of now. */
    public StagingReport since(StagingReport earlier) {
        return new StagingReport(residentBlocks, stagedBlocks - earlier.stagedBlocks, stagedBytes - earlier.stagedBytes,
                stagingSeconds - earlier.stagingSeconds, stallSeconds - earlier.stallSeconds);
    }
}

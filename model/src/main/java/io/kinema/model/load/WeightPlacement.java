package io.kinema.model.load;

/**
 * Where a network's repeated blocks live between uses. The same bits whatever it says.
 *
 * @param residency      all of them on the device, or staged
 * @param residentBlocks with {@link WeightResidency#LAYER}, how many of them stay on the device all the same; more than there are means all
 */
public record WeightPlacement(WeightResidency residency, int residentBlocks) {
    /** All blocks on the device. */
    public static final WeightPlacement RESIDENT = new WeightPlacement(WeightResidency.COMPONENT, 0);

    public WeightPlacement {
        if (residentBlocks < 0) {
            throw new IllegalArgumentException("resident blocks: got " + residentBlocks + ", expected 0 or more");
        }
    }

    /** No block of a staged network stays. */
    public static WeightPlacement of(WeightResidency residency) {
        return new WeightPlacement(residency, 0);
    }

    /** How many of {@code count} blocks stay on the device. */
    public int resident(int count) {
        return residency == WeightResidency.COMPONENT ? count : Math.min(residentBlocks, count);
    }

    /** Whether block {@code index} of {@code count} stays. Those that do lie evenly among the others, so that each hides some of a transfer. */
    public boolean stays(int index, int count) {
        long resident = resident(count);
        return (index + 1) * resident / count > index * resident / count;
    }
}

package io.kinema.compute.collective;

import io.kinema.compute.Device;
import java.util.List;

/** How a group's ranks lie on devices, which decides who adds up their tensors. */
public enum Placement {
    /** All on the host. */
    HOST,
    /** All on one device that is not the host. */
    ONE_DEVICE,
    /** Each on a device of its own, all of one kind. */
    ONE_EACH;

    /**
     * @param devices of the ranks, in their order
     * @throws IllegalArgumentException for other placements: some ranks sharing a device that others do not, or devices of several kinds
     */
    public static Placement of(List<Device> devices) {
        long kinds = devices.stream().map(Device::kind).distinct().count();
        long distinct = devices.stream().distinct().count();
        if (kinds == 1 && distinct == 1) {
            return devices.getFirst().equals(Device.CPU) ? HOST : ONE_DEVICE;
        }
        if (kinds == 1 && distinct == devices.size()) {
            return ONE_EACH;
        }
        throw new IllegalArgumentException("ranks: got devices " + devices + ", expected one device for all ranks or one for each, all of one kind");
    }
}

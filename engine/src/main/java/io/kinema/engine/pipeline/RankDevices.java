package io.kinema.engine.pipeline;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.HostDevices;
import io.kinema.engine.RankOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where each rank runs.
 *
 * @param devices one for each rank, in their order: {@code cpu}, {@code cuda:1}
 */
public record RankDevices(List<String> devices) {
    private static final Pattern NUMBER = Pattern.compile("\\d{1,3}");

    public RankDevices {
        devices = List.copyOf(devices);
    }

    /**
     * @param device one device, or one for each rank: {@code cuda:0,1}; a device may stand there twice
     * @throws BadRequestException when there are more or fewer devices than ranks, or some ranks share a device and others do not
     */
    public static RankDevices of(String device, int ranks) {
        // The host takes as many ranks as one asks for.
        if (HostDevices.include(device)) {
            return new RankDevices(Collections.nCopies(ranks, device));
        }
        if (device.isBlank()) {
            throw new BadRequestException("device", "'" + device + "'", "expected cpu or a GPU such as cuda:0");
        }
        List<String> all = split(device);
        if (all.contains("")) {
            throw new BadRequestException("device", "'" + device + "'", "expected a device on both sides of each comma, such as cuda:0,1");
        }
        if (all.size() != ranks) {
            throw new BadRequestException("device", device + ", which is " + all.size() + (all.size() == 1 ? " device" : " devices"),
                    "expected one for each of " + ranks + (ranks == 1 ? " rank; " + instead(all) : " ranks of --tensor-parallel " + ranks
                    + "; name them, such as cuda:0,1, or use fewer ranks"));
        }
        long distinct = all.stream().distinct().count();
        if (distinct > 1 && distinct < ranks) {
            throw new BadRequestException("device", device, "expected one device for all ranks or one for each; here some ranks share one and others do not");
        }
        return new RankDevices(all);
    }

    /** How a user writes these devices: {@code cpu} for any number of ranks on it, {@code cuda:0,1}. */
    public static String label(List<String> devices) {
        String first = devices.getFirst();
        int colon = first.indexOf(':');
        if (colon < 0) {
            return first;
        }
        return first + devices.stream().skip(1).map(device -> "," + device.substring(device.indexOf(':') + 1)).collect(Collectors.joining());
    }

    /** What makes these devices right for one rank. */
    private static String instead(List<String> devices) {
        return RankOptions.SIZES.contains(devices.size()) ? "add --tensor-parallel " + devices.size() : "name " + devices.getFirst() + " alone";
    }

    /** {@code cuda:0,1} is {@code cuda:0} and {@code cuda:1}. */
    private static List<String> split(String device) {
        List<String> all = new ArrayList<>();
        for (String part : device.split(",", -1)) {
            int colon = device.indexOf(':');
            all.add(!all.isEmpty() && colon >= 0 && NUMBER.matcher(part).matches() ? device.substring(0, colon + 1) + part : part);
        }
        return all;
    }
}

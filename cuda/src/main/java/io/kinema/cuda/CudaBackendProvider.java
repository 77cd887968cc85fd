package io.kinema.cuda;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.DeviceSensors;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaUnavailableException;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.memory.DeviceMemoryException;
import io.kinema.cuda.nvml.NvmlSensors;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Offers {@code cuda:N}. Loads nothing before a device is opened or findings are asked for. */
public final class CudaBackendProvider implements BackendProvider {
    private static final Pattern DEVICE = Pattern.compile("cuda(?::(\\d{1,3}))?");

    @Override
    public String devices() {
        return "cuda:N";
    }

    @Override
    public boolean serves(String device) {
        return DEVICE.matcher(device).matches();
    }

    @Override
    public void check(String device, BackendOptions options) {
        CudaOptions.of(options);
    }

    @Override
    public Backend open(String device, BackendOptions options) {
        Matcher matcher = DEVICE.matcher(device);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("device: got '" + device + "', expected " + devices());
        }
        int index = matcher.group(1) == null ? 0 : Integer.parseInt(matcher.group(1));
        try {
            return CudaBackend.open(index, CudaOptions.of(options));
        } catch (CudaUnavailableException | CudaException | DeviceMemoryException | LinkageError e) {
            throw new DeviceUnavailableException("device " + device + ": " + e.getMessage(), e);
        }
    }

    @Override
    public Optional<DeviceSensors> sensors() {
        return NvmlSensors.open(LibraryFinder.ofEnvironment());
    }

    @Override
    public List<Finding> findings() {
        return CudaFindings.look();
    }
}

package io.kinema.engine.forecast;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.forecast.RunPlan.Residency;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Chooses how many layers stay within limits, and refuses what does not fit with what would.
 *
 * @param maxDevice most device memory, empty for no limit
 * @param maxHost   most host memory, mapped files left out
 */
record MemoryBudget(OptionalLong maxDevice, OptionalLong maxHost) {
    /** @throws BadRequestException when the policy asked for does not fit; it says what it needs and what would fit */
    Residency choose(ResidencyForecast forecast, Optional<WeightResidency> offload, OptionalInt layers) {
        if (!offload.equals(Optional.of(WeightResidency.LAYER)) || layers.isPresent()) {
            return require(forecast, forecast.under(offload, layers.orElse(0)));
        }
        Residency chosen = require(forecast, forecast.under(offload, 0));
        if (maxDevice.isEmpty() && (forecast.device() || maxHost.isEmpty())) {
            return chosen;
        }
        for (int more = 1; more <= forecast.layers() && fits(forecast.under(offload, more)); more++) {
            chosen = forecast.under(offload, more);
        }
        return chosen;
    }

    boolean fits(Residency residency) {
        return residency.deviceBytes() <= maxDevice.orElse(Long.MAX_VALUE) && residency.hostBytes() <= maxHost.orElse(Long.MAX_VALUE);
    }

    private Residency require(ResidencyForecast forecast, Residency asked) {
        if (asked.deviceBytes() > maxDevice.orElse(Long.MAX_VALUE)) {
            throw new BadRequestException("maxDeviceMemory", maxDevice.getAsLong() + " bytes", "expected at least " + asked.deviceBytes() + " with " + words(asked)
                    + "; " + instead(forecast));
        }
        if (asked.hostBytes() > maxHost.orElse(Long.MAX_VALUE)) {
            throw new BadRequestException("maxHostMemory", maxHost.getAsLong() + " bytes", "expected at least " + asked.hostBytes() + " with " + words(asked)
                    + " and host weights " + asked.host().label() + "; " + instead(forecast));
        }
        return asked;
    }

    private static String words(Residency asked) {
        return asked.offload().map(_ -> "weight offload " + asked.label()).orElse("all weights kept");
    }

    /** What would fit, least change first. */
    private String instead(ResidencyForecast forecast) {
        Optional<Residency> other = forecast.all().stream().filter(this::fits).findFirst();
        if (other.isPresent()) {
            String offload = other.get().offload().map(o -> "add --weight-offload " + o.label()).orElse("leave --weight-offload out");
            return offload + ", which needs " + needs(other.get());
        }
        ResidencyForecast mapped = new ResidencyForecast(forecast.transformer(), forecast.text(), forecast.video(), forecast.audio(), forecast.scratch(),
                forecast.heap(), forecast.device(), HostWeights.MMAP);
        Optional<Residency> unheld = mapped.all().stream().filter(this::fits).findFirst();
        if (unheld.isPresent()) {
            String offload = unheld.get().offload().map(o -> " and --weight-offload " + o.label()).orElse("");
            return "use --host-weights mmap" + offload + ", which needs " + needs(unheld.get());
        }
        return "even --weight-offload layer with --host-weights mmap needs " + needs(mapped.under(Optional.of(WeightResidency.LAYER), 0))
                + "; ask for fewer frames or a smaller canvas, or raise the limit";
    }

    private static String needs(Residency residency) {
        return residency.deviceBytes() == 0 ? String.format(Locale.ROOT, "%d bytes", residency.hostBytes())
                : String.format(Locale.ROOT, "%d bytes on the device and %d on the host", residency.deviceBytes(), residency.hostBytes());
    }
}

package io.kinema.cli;

import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"kinema " + text()};
    }

    /** As in {@code 0.1.0}; {@code development} when run from class folders. */
    static String text() {
        return Optional.ofNullable(Kinema.class.getPackage().getImplementationVersion()).orElse("development");
    }
}

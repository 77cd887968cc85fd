package io.kinema.cli;

import io.kinema.engine.record.EngineVersion;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"kinema " + text()};
    }

    static String text() {
        return EngineVersion.VERSION;
    }
}

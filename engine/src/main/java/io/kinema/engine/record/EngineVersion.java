package io.kinema.engine.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** What this engine is. */
public final class EngineVersion {
    /** Kinema's version, as its build states it. */
    public static final String VERSION = read();

    private EngineVersion() {
    }

    private static String read() {
        try (InputStream in = EngineVersion.class.getResourceAsStream("version.properties")) {
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        } catch (IOException e) {
            throw new UncheckedIOException("version.properties of the engine cannot be read", e);
        }
    }
}

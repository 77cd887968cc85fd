package io.kinema.engine.prompt;

import ai.djl.engine.EngineException;
import ai.djl.huggingface.tokenizers.jni.LibUtils;

/**
 * Loads the native library of DJL's tokenizers once in a process, from the copy inside its jar and never from a network.
 * The first load of a user unpacks 14 MB into DJL's cache folder ({@code ~/.djl.ai}, or where {@code DJL_CACHE_DIR} says).
 */
final class TokenizerLibrary {
    private TokenizerLibrary() {
    }

    /** @throws IllegalStateException when there is no library for this machine */
    static void load() {
        Loaded.check();
    }

    /** Initialised by the virtual machine exactly once, before DJL's classes, which read these properties. */
    private static final class Loaded {
        static {
            // Offline also means: the CPU build, also on a machine with a GPU, where DJL would fetch another one.
            setUnlessSet("ai.djl.offline", "true");
            setUnlessSet("RUST_FLAVOR", "cpu");
            setUnlessSet("OPT_OUT_TRACKING", "true");
        }

        private static void setUnlessSet(String name, String value) {
            if (System.getProperty(name) == null && System.getenv(name) == null) {
                System.setProperty(name, value);
            }
        }

        static void check() {
            try {
                LibUtils.checkStatus();
            } catch (EngineException | LinkageError e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw new IllegalStateException("tokenizer: the native library of ai.djl.huggingface:tokenizers did not load for "
                        + System.getProperty("os.name") + " " + System.getProperty("os.arch") + " (" + cause.getMessage()
                        + "); set DJL_CACHE_DIR to a writable folder that allows executable files", e);
            }
        }
    }
}

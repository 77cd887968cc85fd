package io.kinema.serve;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the scripts of {@code src/test/node} with the packages of their lock file, installed below {@code target}. */
final class NodeTools {
    private static final long LIMIT_SECONDS = 300;
    private static final Path SOURCES = TestServer.ROOT.resolve("serve/src/test/node");
    private static final Path INSTALLED = TestServer.ROOT.resolve("serve/target/node");

    private NodeTools() {
    }

    /** A command's exit code and all it printed. */
    record Result(int exit, String out, String err) {
    }

    /** Installs what is missing. The test that asks is skipped, and says why, where there is no Node or no registry to be reached. */
    static synchronized void require() {
        Result node = run(Path.of("."), "node", "--version");
        assumeTrue(node.exit() == 0, "no node here: other people's clients are not run; apt-get install nodejs npm");
        try {
            Files.createDirectories(INSTALLED);
            boolean changed = false;
            for (String name : List.of("package.json", "package-lock.json", ".npmrc", "openai-client.mjs", "validate-openapi.mjs")) {
                byte[] wanted = Files.readAllBytes(SOURCES.resolve(name));
                Path there = INSTALLED.resolve(name);
                if (!Files.exists(there) || !java.util.Arrays.equals(wanted, Files.readAllBytes(there))) {
                    Files.copy(SOURCES.resolve(name), there, StandardCopyOption.REPLACE_EXISTING);
                    changed |= name.endsWith("lock.json");
                }
            }
            // Comes last: an installation that broke off is made again.
            Path whole = INSTALLED.resolve("node_modules/.installed");
            if (changed || !Files.exists(whole)) {
                Result install = run(INSTALLED, "npm", "ci", "--ignore-scripts");
                if (install.exit() != 0) {
                    Files.deleteIfExists(INSTALLED.resolve("package-lock.json"));
                }
                assumeTrue(install.exit() == 0, "npm cannot install here: other people's clients are not run; " + install.err());
                Files.createFile(whole);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs one of the scripts. */
    static Result script(String name, String... arguments) {
        List<String> command = new ArrayList<>(List.of("node", name));
        command.addAll(List.of(arguments));
        return run(INSTALLED, command.toArray(String[]::new));
    }

    private static Result run(Path folder, String... command) {
        try {
            Path out = Files.createTempFile("kinema-node", ".out");
            Path err = Files.createTempFile("kinema-node", ".err");
            try {
                Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
                process.getOutputStream().close();
                boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                String late = ended ? "" : "still running after " + LIMIT_SECONDS + " s\n";
                return new Result(ended ? process.exitValue() : -1, Files.readString(out, StandardCharsets.UTF_8), late + Files.readString(err, StandardCharsets.UTF_8));
            } finally {
                Files.delete(out);
                Files.delete(err);
            }
        } catch (IOException absent) {
            return new Result(-1, "", absent.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}

package io.kinema.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts this program again, with the same JVM, options and class path, as a child process. */
final class OwnProgram {
    private OwnProgram() {
    }

    /** @param arguments of the kinema command; they pass through no shell */
    static Process start(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(OwnProgram::inherited).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Kinema.class.getName()));
        command.addAll(arguments);
        return new ProcessBuilder(command).start();
    }

    /** The launcher's descriptors, debuggers and agents are this process's own. */
    private static boolean inherited(String option) {
        return !option.startsWith("-Dkinema.stderr") && !option.startsWith("-Dkinema.terminal") && !option.startsWith("-agentlib") && !option.startsWith("-javaagent");
    }
}

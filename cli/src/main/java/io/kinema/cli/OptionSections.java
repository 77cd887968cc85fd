package io.kinema.cli;

import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Shows a command's options in sections, one for each class that declares some. (Picocli's argument groups give headings too,
 * but let an option that is typed twice drop the rest of its group.)
 */
final class OptionSections implements IHelpSectionRenderer {
    private static final Map<Class<?>, String> HEADINGS = Map.of(RequestOptions.class, "Request:", ExecutionOptions.class,
            "Model and execution:", ParallelOptions.class, "Model and execution:", ResidencyFlags.class, "Model and execution:", KeepingFlags.class,
            "Model and execution:", DeviceOptions.class, "Model and execution:");

    @Override
    public String render(Help help) {
        Map<String, List<OptionSpec>> sections = help.commandSpec().options().stream().filter(option -> !option.hidden())
                .collect(Collectors.groupingBy(OptionSections::heading, LinkedHashMap::new, Collectors.toList()));
        StringBuilder text = new StringBuilder();
        sections.forEach((heading, options) -> {
            Help.Layout layout = help.createDefaultLayout(help.commandSpec().options(),
                    help.commandSpec().positionalParameters(), help.colorScheme());
            layout.addOptions(options, help.parameterLabelRenderer());
            text.append(heading.isEmpty() ? "" : System.lineSeparator() + heading + System.lineSeparator()).append(layout);
        });
        return text.toString();
    }

    private static String heading(OptionSpec option) {
        return option.userObject() instanceof Field field ? HEADINGS.getOrDefault(field.getDeclaringClass(), "") : "";
    }
}

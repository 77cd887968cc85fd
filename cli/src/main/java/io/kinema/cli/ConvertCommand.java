package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.convert.ConversionOptions;
import io.kinema.engine.convert.ConversionReport;
import io.kinema.engine.convert.ModelConverter;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.DType;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema convert}: a model, a network or a transformer file in another layout or dtype. */
@Command(name = "convert", sortOptions = false, description = {
    "Writes a model, one network's folder or a transformer file in another layout or dtype.",
    "Everything is written beside the target, read back, and put in its place in one step; SHA256SUMS lists every file. Where no dtype is "
            + "narrowed, values keep their bits. What H3 keeps in FP32 stays FP32; of a whole model, the transformer and the text encoder "
            + "are narrowed and the VAEs are not."})
final class ConvertCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "MODEL|FOLDER|FILE", description = "A model in either layout, one network's folder, or a transformer file: safetensors "
            + "(plain, FP8, INT8 ConvRot) or GGUF.")
    private Path from;

    @Option(names = "--output", required = true, paramLabel = "DIR", description = "The folder to be.")
    private Path output;

    @Option(names = "--layout", paramLabel = "LAYOUT", description = "diffusers (default) or original, MiniMax's.")
    private String layout = "diffusers";

    @Option(names = "--dtype", paramLabel = "DTYPE", description = "keep (default), fp32, bf16 or fp16; a value that fp16 cannot hold is refused by name.")
    private String dtype = "keep";

    @Option(names = "--model", paramLabel = "DIR", description = "Model whose config belongs to a transformer file without one (default: the bundled one).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--transformer-layout", paramLabel = "LAYOUT", description = "How such a file's q, k and v rows lie, where its names leave it open: "
            + "original or comfyui.")
    private Optional<String> transformerLayout = Optional.empty();

    @Option(names = "--overwrite", description = "Replace what is there.")
    private boolean overwrite;

    @Option(names = "--quiet", description = "No progress.")
    private boolean quiet;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    ConvertCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        ConversionOptions options = new ConversionOptions(target(), dtype(), overwrite, model, transformerLayout.map(ExecutionOptions::layout));
        ConversionReport report = ModelConverter.convert(from, output, options, name -> {
            if (!quiet) {
                terminal.err().println("wrote " + name);
            }
        });
        terminal.print(json ? document(report).toPrettyString()
                : String.format(Locale.ROOT, "%s: %d files, %,d bytes, every one read back; checksums in %s", report.target(), report.files().size(), report.bytes(), ConversionReport.CHECKSUMS));
        return ExitCode.DONE;
    }

    private WeightLayout target() {
        return switch (layout.toLowerCase(Locale.ROOT)) {
            case "diffusers" -> WeightLayout.DIFFUSERS;
            case "original" -> WeightLayout.ORIGINAL;
            default -> throw new BadRequestException("layout", "'" + layout + "'", "expected diffusers or original");
        };
    }

    private Optional<DType> dtype() {
        return switch (dtype.toLowerCase(Locale.ROOT)) {
            case "keep" -> Optional.empty();
            case "fp32" -> Optional.of(DType.F32);
            case "bf16" -> Optional.of(DType.BF16);
            case "fp16" -> Optional.of(DType.F16);
            default -> throw new BadRequestException("dtype", "'" + dtype + "'", "expected keep, fp32, bf16 or fp16");
        };
    }

    private static ObjectNode document(ConversionReport report) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("target", report.target().toString()).put("bytes", report.bytes());
        ArrayNode files = root.putArray("files");
        report.files().forEach(f -> files.addObject().put("name", f.name()).put("bytes", f.bytes()).put("sha256", f.sha256()));
        return root;
    }
}

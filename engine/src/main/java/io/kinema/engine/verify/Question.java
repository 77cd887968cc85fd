package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One check as an operation sees it: arguments, inputs and where to report intermediates. Owns nothing.
 *
 * @param file   the case
 * @param check  the check
 * @param files  the case's tensors
 * @param stages takes intermediates; wants none unless asked to compare them
 * @param run    device, threads and the precision in force
 */
record Question(CaseFile file, CaseFile.Check check, CaseFiles files, StageRecorder stages, RunSettings run) {
    /** The input tensor of this name. */
    Values input(String name) {
        return files.values(inputReference(name));
    }

    boolean has(String name) {
        return check.inputs().containsKey(name);
    }

    /** The input picture of this name. */
    Path picture(String name) {
        return files.file(inputReference(name));
    }

    int integer(String arg) {
        JsonNode node = argument(arg);
        if (!node.isIntegralNumber() || !node.canConvertToInt()) {
            throw bad(arg, node, "expected an integer");
        }
        return node.asInt();
    }

    long longInteger(String arg) {
        JsonNode node = argument(arg);
        if (!node.isIntegralNumber()) {
            throw bad(arg, node, "expected an integer");
        }
        return node.asLong();
    }

    double number(String arg) {
        JsonNode node = argument(arg);
        if (!node.isNumber()) {
            throw bad(arg, node, "expected a number");
        }
        return node.asDouble();
    }

    String text(String arg) {
        JsonNode node = argument(arg);
        if (!node.isTextual()) {
            throw bad(arg, node, "expected text");
        }
        return node.asText();
    }

    int[] integers(String arg) {
        return integers(arg, argument(arg));
    }

    int[] integers(String arg, JsonNode list) {
        int[] out = new int[list.size()];
        for (int i = 0; i < out.length; i++) {
            if (!list.get(i).canConvertToInt()) {
                throw bad(arg, list, "expected a list of integers");
            }
            out[i] = list.get(i).asInt();
        }
        return out;
    }

    /** An argument that may be left out. */
    JsonNode optional(String arg) {
        return check.args().path(arg);
    }

    JsonNode argument(String arg) {
        JsonNode node = check.args().path(arg);
        if (node.isMissingNode()) {
            throw bad(arg, node, "expected this argument");
        }
        return node;
    }

    /** The model or component folder, that of the chosen model where there is one. @throws BadRequestException when the case names none */
    Path weights() {
        Path stated = file.weights().orElseThrow(() -> bad("weights", file.root().path("weights"), "expected a folder for " + check.op()));
        return run.options().model().map(model -> within(ModelFolder.open(model), stated)).orElse(stated);
    }

    /** A case names a network by its folder in the diffusers layout, a tokenizer of its own, or else the whole model. */
    private static Path within(ModelFolder model, Path stated) {
        Optional<Component> component = Component.keyed(stated.getFileName().toString());
        if (component.isEmpty()) {
            return model.root();
        }
        return component.get().network() ? model.folder(component.get()) : stated;
    }

    BadRequestException bad(String field, JsonNode got, String allowed) {
        return new BadRequestException(file.name() + " check " + check.number() + " " + field, got.isMissingNode() ? "nothing" : got.toString(), allowed);
    }

    private String inputReference(String name) {
        String reference = check.inputs().get(name);
        if (reference == null) {
            throw new BadRequestException(file.name() + " check " + check.number() + " in", "no " + name, "expected " + check.op() + " to have this input");
        }
        return reference;
    }
}

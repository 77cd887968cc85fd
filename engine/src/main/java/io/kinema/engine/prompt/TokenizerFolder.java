package io.kinema.engine.prompt;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.PlainFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The files of one tokenizer folder. */
final class TokenizerFolder {
    private static final long LARGEST_FILE = 64L << 20;

    private TokenizerFolder() {
    }

    /** The object in this file. @throws BadWeightsException when it is not one */
    static JsonNode object(Path file) {
        try {
            JsonNode node = new ObjectMapper().readTree(read(file));
            require(node.isObject(), file, "got " + node.getNodeType() + ", expected a JSON object");
            return node;
        } catch (JacksonException e) {
            throw new BadWeightsException(file + ": not readable as JSON: " + firstLine(e.getOriginalMessage()), e);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** The file's bytes. @throws BadWeightsException when it is missing, unreadable or larger than 64 MiB */
    static byte[] read(Path file) {
        try {
            long size = Files.size(PlainFile.require(file));
            require(size <= LARGEST_FILE, file, "got " + size + " bytes, expected at most " + LARGEST_FILE);
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw new BadWeightsException(file + ": missing; a tokenizer folder holds vocab.json, merges.txt and tokenizer_config.json", e);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    static void require(boolean holds, Path file, String message) {
        if (!holds) {
            throw new BadWeightsException(file + ": " + message);
        }
    }

    /** The first line of an exception's message. */
    static String firstLine(String message) {
        return message == null ? "no reason given" : message.lines().findFirst().orElse("no reason given");
    }

    private static BadWeightsException unreadable(Path file, IOException e) {
        return new BadWeightsException(file + ": not readable: " + firstLine(e.getMessage()), e);
    }
}

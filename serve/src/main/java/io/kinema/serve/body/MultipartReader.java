package io.kinema.serve.body;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.io.Content;

/**
 * Owns the file that it is writing until it is closed; closing twice is harmless. Reads a multipart body part by part: fields into
 * a tree, files straight to the staging folder.
 */
final class MultipartReader extends MultiPart.AbstractPartsListener implements AutoCloseable {
    private static final int CHUNK = 1 << 15;
    private static final int MOST_PART_HEADER_BYTES = 4 << 10;

    private final MultiPart.Parser parser;
    private final FormFields fields;
    private final BodyLimits limits;
    private final Staging staging;

    private Path file;
    private OutputStream fileContent;
    private ByteArrayOutputStream textContent;
    private long count;
    private boolean complete;
    /** What a callback met. The parser would wrap it; it is thrown once the parser has returned. */
    private RuntimeException failure;

    MultipartReader(String boundary, FormFields fields, BodyLimits limits, Staging staging) {
        this.fields = fields;
        this.limits = limits;
        this.staging = staging;
        this.parser = new MultiPart.Parser(boundary, this);
        parser.setMaxParts((long) limits.fields() + limits.files() + 1);
        parser.setPartHeadersMaxLength(MOST_PART_HEADER_BYTES);
    }

    /** Reads the whole body. */
    ObjectNode read(InputStream body) throws IOException {
        byte[] buffer = new byte[CHUNK];
        for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
            if (read > 0 && !complete) {
                parse(ByteBuffer.wrap(buffer, 0, read), false);
            }
        }
        if (!complete) {
            parse(ByteBuffer.allocate(0), true);
        }
        if (!complete) {
            throw malformed();
        }
        return fields.tree();
    }

    private void parse(ByteBuffer bytes, boolean last) {
        try {
            parser.parse(Content.Chunk.from(bytes, last));
        } catch (RuntimeException broken) {
            throw failure != null ? failure : malformed();
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void onPartHeaders() {
        guarded(() -> {
            String name = getName();
            if (name == null || name.isEmpty()) {
                throw malformed();
            }
            count = 0;
            if (getFileName() != null) {
                fields.expectFile(name);
                file = staging.newFile();
                fileContent = StagedOutput.to(file);
            } else {
                textContent = new ByteArrayOutputStream();
            }
        });
    }

    @Override
    public void onPartContent(Content.Chunk chunk) {
        guarded(() -> {
            ByteBuffer bytes = chunk.getByteBuffer();
            count += bytes.remaining();
            long most = fileContent != null ? limits.fileBytes() : limits.textBytes();
            if (count > most) {
                throw Problem.field(ProblemKind.TOO_LARGE, Problem.printable(getName(), 60), "more than " + most + " bytes", "expected at most that many");
            }
            byte[] part = new byte[bytes.remaining()];
            bytes.get(part);
            if (fileContent != null) {
                fileContent.write(part);
            } else if (textContent != null) {
                textContent.write(part);
            }
        });
    }

    @Override
    public void onPart(String name, String fileName, HttpFields headers) {
        guarded(() -> {
            if (fileContent != null) {
                fileContent.close();
                fileContent = null;
                // A browser sends an empty part for a file chooser in which nothing was chosen.
                if (count > 0) {
                    fields.add(name, new Upload(file, count));
                } else if (!fileName.isEmpty()) {
                    throw Problem.invalid(Problem.printable(name, 60), "an empty file", "expected one with content");
                }
            } else if (textContent != null) {
                fields.add(name, utf8(textContent.toByteArray()));
                textContent = null;
            }
        });
    }

    @Override
    public void onComplete() {
        complete = true;
    }

    @Override
    public void onFailure(Throwable broken) {
        if (failure == null) {
            failure = malformed();
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private void guarded(Step step) {
        if (failure != null) {
            return;
        }
        try {
            step.run();
        } catch (RuntimeException e) {
            failure = e;
        } catch (IOException e) {
            failure = new java.io.UncheckedIOException(e);
        }
    }

    private static String utf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got a field that is not UTF-8, expected UTF-8 text");
        }
    }

    private static Problem malformed() {
        return Problem.of(ProblemKind.MALFORMED, "body: got a broken multipart body, expected whole parts with names, each within its boundary");
    }

    @Override
    public void close() throws IOException {
        if (fileContent != null) {
            fileContent.close();
            fileContent = null;
        }
    }
}

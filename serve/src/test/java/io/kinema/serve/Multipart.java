package io.kinema.serve;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** A multipart body, part by part. */
final class Multipart {
    private static final String BOUNDARY = "----kinema-test-boundary";
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Multipart field(String name, String value) {
        return part("form-data; name=\"" + name + "\"", "", value.getBytes(StandardCharsets.UTF_8));
    }

    Multipart file(String name, String fileName, String type, byte[] content) {
        return part("form-data; name=\"" + name + "\"; filename=\"" + fileName + "\"", "Content-Type: " + type + "\r\n", content);
    }

    private Multipart part(String disposition, String headers, byte[] content) {
        out.writeBytes(("--" + BOUNDARY + "\r\nContent-Disposition: " + disposition + "\r\n" + headers + "\r\n").getBytes(StandardCharsets.UTF_8));
        out.writeBytes(content);
        out.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        return this;
    }

    String contentType() {
        return "multipart/form-data; boundary=" + BOUNDARY;
    }

    byte[] body() {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.writeBytes(out.toByteArray());
        whole.writeBytes(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8));
        return whole.toByteArray();
    }
}

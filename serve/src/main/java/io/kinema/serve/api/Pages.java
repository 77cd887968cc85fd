package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.serve.http.Caller;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** Files that are part of the program: Studio below {@code /studio/}, and the API's own description. Names lead nowhere else. */
final class Pages {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*(\\.[a-z0-9]+)+");
    private static final Map<String, String> TYPES = Map.ofEntries(Map.entry("html", "text/html; charset=utf-8"), Map.entry("css", "text/css; charset=utf-8"),
            Map.entry("js", "text/javascript; charset=utf-8"), Map.entry("mjs", "text/javascript; charset=utf-8"), Map.entry("json", "application/json"),
            Map.entry("svg", "image/svg+xml"), Map.entry("png", "image/png"), Map.entry("ico", "image/x-icon"), Map.entry("webp", "image/webp"),
            Map.entry("woff2", "font/woff2"), Map.entry("txt", "text/plain; charset=utf-8"));

    private final Map<String, Optional<byte[]>> read = new ConcurrentHashMap<>();

    void home(Context call, Caller caller) {
        call.status(302).header("Location", content("studio/index.html").isPresent() ? "/studio/" : "/openapi.json");
    }

    /** The page names its parts relative to its own folder, so the folder's slash must be there. */
    void studioHome(Context call, Caller caller) {
        if (call.path().endsWith("/") || content("studio/index.html").isEmpty()) {
            send(call, "studio/index.html");
        } else {
            call.status(302).header("Location", "/studio/");
        }
    }

    void studio(Context call, Caller caller) {
        String name = call.pathParam("file");
        send(call, NAME.matcher(name).matches() ? "studio/" + name : "");
    }

    void openApi(Context call, Caller caller) {
        send(call, "openapi.json");
    }

    private void send(Context call, String resource) {
        String type = TYPES.get(resource.substring(resource.lastIndexOf('.') + 1));
        byte[] content = content(resource).filter(bytes -> type != null).orElseThrow(() -> Problem.of(ProblemKind.NOT_FOUND,
                "path: got one that leads nowhere, expected one of /openapi.json"));
        call.contentType(type).result(content);
    }

    private Optional<byte[]> content(String resource) {
        return resource.isEmpty() ? Optional.empty() : read.computeIfAbsent(resource, Pages::load);
    }

    private static Optional<byte[]> load(String resource) {
        try (InputStream in = Pages.class.getResourceAsStream("/io/kinema/serve/" + resource)) {
            return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}

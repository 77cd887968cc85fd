package io.kinema.serve.http;

import io.javalin.http.Context;

/** Headers of every answer. */
public final class Headers {
    private static final String API_POLICY = "default-src 'none'; frame-ancestors 'none'";
    private static final String PAGE_POLICY = "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'";

    private Headers() {
    }

    public static void common(Context call) {
        call.header("X-Content-Type-Options", "nosniff").header("Referrer-Policy", "no-referrer").header("Cross-Origin-Resource-Policy", "same-origin")
                .header("Content-Security-Policy", API_POLICY).header("Cache-Control", "no-store");
    }

    /** A page of our own may run its own scripts and styles and show what it fetched; nothing else. */
    public static void page(Context call) {
        call.header("Content-Security-Policy", PAGE_POLICY).header("Cache-Control", "no-cache");
    }
}

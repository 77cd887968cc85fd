package io.kinema.serve.api;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kinema.serve.http.AccessKeys;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.Headers;
import io.kinema.serve.http.HostNames;
import java.util.Optional;

/** What happens before and after every route: the caller is checked, the answer gets its headers, the time is measured. */
public final class Gate {
    private static final String START = "kinema.start";
    private static final String ROUTE = "kinema.route";

    private final AccessKeys keys;
    private final HostNames names;
    private final Counters counters;

    public Gate(AccessKeys keys, HostNames names, Counters counters) {
        this.keys = keys;
        this.names = names;
        this.counters = counters;
    }

    /** Adds what goes before and after every route, also where none is found. */
    public void install(RoutesConfig routes) {
        routes.before(call -> {
            call.attribute(START, System.nanoTime());
            Headers.common(call);
            String host = header(call, "Host");
            names.requireOwn(host);
            names.requireSameOrigin(header(call, "Origin"), safe(call) ? "" : header(call, "Sec-Fetch-Site"), host);
        });
        routes.after(call -> {
            Long start = call.attribute(START);
            String route = Optional.ofNullable((String) call.attribute(ROUTE)).orElse("none");
            if (start != null) {
                counters.answered(method(call), route, call.statusCode(), System.nanoTime() - start);
            }
        });
    }

    /** A link on another page may lead here; it carries nothing and changes nothing. */
    private static boolean safe(Context call) {
        return method(call).equals("GET") || method(call).equals("HEAD");
    }

    /** One of a few, so that a client cannot fill the meters with names of its own. */
    private static String method(Context call) {
        String name = call.req().getMethod();
        return switch (name) {
            case "GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS" -> name;
            default -> "other";
        };
    }

    /** Answers a request that has found its route. */
    public void answer(Context call, Routes.Route route) throws Exception {
        call.attribute(ROUTE, route.path());
        if (route.page()) {
            Headers.page(call);
        }
        Caller caller = switch (route.access()) {
            case OPEN -> new Caller(Optional.empty());
            case KEY -> keys.caller(header(call, "Authorization"));
        };
        route.action().answer(call, caller);
    }

    private static String header(Context call, String name) {
        return Optional.ofNullable(call.header(name)).orElse("");
    }
}

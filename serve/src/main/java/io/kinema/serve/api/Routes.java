package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.StoredFileAnswer;
import java.util.List;

/** Every route of the server. */
public final class Routes {
    /** Who may call a route. */
    public enum Access {
        /** Whoever has a key, where the server has keys. */
        KEY,
        /** Everybody. */
        OPEN
    }

    /** What a route does. */
    @FunctionalInterface
    public interface Action {
        void answer(Context call, Caller caller) throws Exception;
    }

    /**
     * A route.
     *
     * @param method {@code GET}
     * @param path   {@code /v1/videos/{id}}
     * @param access who may call it
     * @param page   true for pages of our own, which may run scripts
     */
    public record Route(String method, String path, Access access, boolean page, Action action) {
    }

    private final List<Route> all;
    private final VideoEvents events;
    private final VideoSync sync;
    private final HealthRoutes health;

    public Routes(Service service, Counters counters) {
        StoredFileAnswer files = new StoredFileAnswer(service.storage(), service.patience());
        VideoSubmission submission = new VideoSubmission(service, counters);
        VideoQueries queries = new VideoQueries(service.jobs(), files);
        VideoPreview previews = new VideoPreview(service);
        ModelRoutes models = new ModelRoutes(service.offer());
        Pages pages = new Pages();
        events = new VideoEvents(service.jobs(), service.eventStreams());
        sync = new VideoSync(submission, service, files);
        health = new HealthRoutes(service);
        all = List.of(
                key("POST", "/v1/videos", submission::create),
                key("POST", "/v1/videos/sync", sync::create),
                key("GET", "/v1/videos", queries::list),
                key("GET", "/v1/videos/{id}", queries::get),
                key("DELETE", "/v1/videos/{id}", queries::delete),
                key("POST", "/v1/videos/{id}/cancel", queries::cancel),
                key("POST", "/v1/videos/{id}/remix", submission::remix),
                key("GET", "/v1/videos/{id}/content", queries::content),
                key("GET", "/v1/videos/{id}/events", events::stream),
                key("GET", "/v1/videos/{id}/preview", previews::get),
                key("GET", "/v1/models", models::list),
                key("GET", "/v1/models/{id}", models::get),
                key("GET", "/v1/capabilities", models::capabilities),
                key("GET", "/metrics", counters::scrape),
                open("GET", "/health", false, health::ready),
                open("GET", "/health/live", false, health::live),
                open("GET", "/health/ready", false, health::ready),
                open("GET", "/openapi.json", false, pages::openApi),
                open("GET", "/", false, pages::home),
                open("GET", "/studio", true, pages::studioHome),
                open("GET", "/studio/<file>", true, pages::studio));
    }

    private static Route key(String method, String path, Action action) {
        return new Route(method, path, Access.KEY, false, action);
    }

    private static Route open(String method, String path, boolean page, Action action) {
        return new Route(method, path, Access.OPEN, page, action);
    }

    public List<Route> all() {
        return all;
    }

    /** Ends what waits: streams of events and calls that wait for their video; and says that the server is not ready. */
    public void stop() {
        health.stop();
        events.stop();
        sync.stop();
    }
}

package io.kinema.serve;

import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.kinema.engine.H3Planner;
import io.kinema.jobs.JobService;
import io.kinema.serve.api.Counters;
import io.kinema.serve.api.Gate;
import io.kinema.serve.api.Routes;
import io.kinema.serve.api.Service;
import io.kinema.serve.body.BodyReader;
import io.kinema.serve.body.StagingShare;
import io.kinema.serve.fetch.ReferenceFetcher;
import io.kinema.serve.http.HostNames;
import io.kinema.serve.http.ProblemPages;
import io.kinema.serve.http.Problems;
import io.kinema.serve.http.StalledConnections;
import io.kinema.serve.request.Field;
import io.kinema.serve.request.Offer;
import io.kinema.serve.request.VideoCalls;
import java.util.List;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Owns a listening HTTP server, its client for references and its meters until it is closed; closing twice is harmless, and ends within
 * {@link ServeOptions#stopWithin} and a second. The queue and the planner belong to whoever opened them, and are closed after it.
 */
public final class Server implements AutoCloseable {
    private static final int HEADER_BYTES = 16 << 10;

    private final ServeOptions options;
    private final StagingShare staging;
    private final ReferenceFetcher fetcher;
    private final Counters counters;
    private final Routes routes;
    private final Javalin http;

    private Server(ServeOptions options, JobService queue, H3Planner planner) {
        this.options = options;
        staging = StagingShare.take(options.staging());
        fetcher = new ReferenceFetcher(options.fetching());
        Offer offer = new Offer(planner.modelName(), planner.geometry(), options.adapters(), options.files());
        Service service = new Service(queue, offer, new BodyReader(options.bodies(), Field.kinds()),
                new VideoCalls(offer, planner, fetcher, queue.jobs(), queue.storage()), options.staging(), options.rates(), options.longestSync(),
                options.patience(), options.eventStreams(), options.log());
        counters = new Counters(service);
        routes = new Routes(service, counters);
        http = Javalin.create(this::configure);
    }

    /**
     * Starts a server.
     *
     * @param queue   where jobs go
     * @param planner of the model that the queue's workers run
     * @throws io.javalin.util.JavalinBindException when the port is taken
     */
    public static Server start(ServeOptions options, JobService queue, H3Planner planner) {
        Server server = new Server(options, queue, planner);
        try {
            server.http.start();
            return server;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** The port it listens on. */
    public int port() {
        return http.port();
    }

    /** Every route it has. */
    public List<Routes.Route> routes() {
        return routes.all();
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.startup.startupWatcherEnabled = false;
        config.concurrency.useVirtualThreads = true;
        config.http.prefer405over404 = true;
        config.http.compressionStrategy = CompressionStrategy.NONE;
        config.router.treatMultipleSlashesAsSingleSlash = false;
        config.router.caseInsensitiveRoutes = false;
        config.jetty.modifyHttpConfiguration(Server::restrict);
        config.jetty.addConnector(this::connector);
        config.jetty.modifyServer(server -> {
            server.setErrorHandler(new ProblemPages());
            server.setStopTimeout(options.stopWithin().toMillis());
        });
        config.jetty.modifyServletContextHandler(context -> context.setErrorHandler(new ProblemPages()));
        Gate gate = new Gate(options.keys(), new HostNames(options.host(), options.hostNames()), counters);
        gate.install(config.routes);
        new Problems(options.log(), options.bodies()).install(config.routes);
        routes.all().forEach(route -> {
            config.routes.addHttpHandler(HandlerType.findOrCreate(route.method()), route.path(), (Context call) -> gate.answer(call, route));
            if (route.method().equals("GET") && !route.path().endsWith("/events")) {
                // Javalin would answer these itself, with no header of the file.
                config.routes.addHttpHandler(HandlerType.HEAD, route.path(), (Context call) -> gate.answer(call, route));
            }
        });
    }

    private static void restrict(HttpConfiguration http) {
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setRequestHeaderSize(HEADER_BYTES);
    }

    private Connector connector(org.eclipse.jetty.server.Server server, HttpConfiguration http) {
        ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(options.host());
        connector.setPort(options.port());
        connector.setIdleTimeout(options.patience().toMillis());
        connector.setAcceptQueueSize(options.connections());
        connector.addBean(new NetworkConnectionLimit(options.connections(), connector));
        StalledConnections stalled = new StalledConnections(connector, Math.max(1, options.patience().toSeconds()));
        connector.addBean(stalled);
        connector.addEventListener(stalled);
        return connector;
    }

    @Override
    public void close() {
        routes.stop();
        try {
            http.stop();
        } finally {
            fetcher.close();
            counters.close();
            staging.close();
        }
    }
}

package io.kinema.serve.fetch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A web server on one of this machine's many loopback addresses, which plays the public internet. */
public final class WebServer implements AutoCloseable {
    /** What a page does. */
    @FunctionalInterface
    public interface Page {
        void answer(HttpExchange exchange) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger requests = new AtomicInteger();

    public WebServer(String address) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral(address), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    public WebServer page(String path, Page page) {
        server.createContext(path, exchange -> {
            requests.incrementAndGet();
            try (exchange) {
                page.answer(exchange);
            }
        });
        return this;
    }

    public WebServer file(String path, byte[] content) {
        return page(path, exchange -> {
            exchange.sendResponseHeaders(200, content.length);
            exchange.getResponseBody().write(content);
        });
    }

    public WebServer redirect(String path, String to) {
        return page(path, exchange -> {
            exchange.getResponseHeaders().set("Location", to);
            exchange.sendResponseHeaders(302, -1);
        });
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public int requests() {
        return requests.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

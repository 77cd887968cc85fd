package io.kinema.serve.fetch;

import io.kinema.serve.body.StagedOutput;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.util.Promise;

/**
 * Owns an HTTP client and its threads until it is closed; closing twice is harmless. Fetches references for any number of threads.
 *
 * <p>A host is looked up once for each connection, every address it has is judged, and the connection goes to one of those very
 * addresses: an answer that changes afterwards changes nothing. Redirects are followed here, one by one, each judged like the first
 * address. No cookies, no credentials, no proxy, no compression.
 */
public final class ReferenceFetcher implements AutoCloseable {
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    private static final int OK = 200;
    private static final int CHUNK = 1 << 16;
    private static final int CONNECT_MILLIS = 10_000;
    private static final int LOOKUPS = 4;
    private static final int MOST_HEADER_BYTES = 16 << 10;

    private final FetchPolicy policy;
    private final HttpClient client;
    /** Looking a name up blocks in native code, which would hold a virtual thread's carrier. */
    private final ExecutorService lookups;
    private final Semaphore places;

    public ReferenceFetcher(FetchPolicy policy) {
        this.policy = policy;
        this.places = new Semaphore(policy.atOnce());
        this.lookups = Executors.newFixedThreadPool(LOOKUPS, Thread.ofPlatform().daemon().name("kinema-lookup-", 0).factory());
        this.client = new HttpClient();
        client.setFollowRedirects(false);
        client.setConnectTimeout(CONNECT_MILLIS);
        client.setIdleTimeout(policy.longest().toMillis());
        client.setHttpCookieStore(new HttpCookieStore.Empty());
        client.setMaxResponseHeadersSize(MOST_HEADER_BYTES);
        client.setSocketAddressResolver((host, port, context, promise) -> lookups.execute(() -> look(host, port, promise)));
        try {
            client.start();
        } catch (Exception e) {
            throw new IllegalStateException("the HTTP client for references does not start", e);
        }
        client.getContentDecoderFactories().clear();
    }

    /**
     * Copies what lies at an address into a file.
     *
     * @param text      the address, as the client wrote it
     * @param target    the file, made anew; what is in it after an exception is of no use
     * @param mostBytes the largest that is taken
     * @throws io.kinema.serve.problem.Problem when the file cannot be written
     * @throws RefusedUrlException when the address may not be fetched, or does not answer with a file of this size in time
     */
    public void fetch(String text, Path target, long mostBytes) {
        ReferenceUrl url = ReferenceUrl.parse(text);
        long deadline = System.nanoTime() + policy.longest().toNanos();
        try {
            if (!places.tryAcquire(remaining(deadline), TimeUnit.NANOSECONDS)) {
                throw tooSlow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw tooSlow();
        }
        try {
            for (int hop = 0; hop <= policy.redirects(); hop++) {
                requireListed(url);
                Answer answer = get(url, target, mostBytes, deadline);
                if (answer.location().isEmpty()) {
                    return;
                }
                url = url.redirected(answer.location());
            }
            throw new RefusedUrlException("an address that redirects more than " + policy.redirects() + " times, expected the final address");
        } finally {
            places.release();
        }
    }

    private void requireListed(ReferenceUrl url) {
        if (!policy.hosts().isEmpty() && !policy.hosts().contains(url.host())) {
            throw new RefusedUrlException("an address of a host that this server does not fetch from, expected one of its list or an upload");
        }
        // A literal address is judged before anything is sent; a name when it is looked up.
        url.literal().ifPresent(this::requireAllowed);
    }

    private void requireAllowed(InetAddress address) {
        if (!policy.addresses().allows(address)) {
            throw new RefusedUrlException("an address that is not on the public internet, expected a public one or an upload");
        }
    }

    private void look(String host, int port, Promise<List<InetSocketAddress>> promise) {
        try {
            List<InetAddress> found = ReferenceUrl.parse("http://" + (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + "/").addresses(policy.resolver());
            // One bad address among good ones is a trick, not a choice.
            found.forEach(this::requireAllowed);
            promise.succeeded(found.stream().map(address -> new InetSocketAddress(address, port)).toList());
        } catch (RuntimeException refused) {
            promise.failed(refused);
        }
    }

    /** @param location where to go instead; empty when the file was copied */
    private record Answer(String location) {
    }

    private Answer get(ReferenceUrl url, Path target, long mostBytes, long deadline) {
        try (InputStreamResponseListener listener = new InputStreamResponseListener()) {
            var request = client.newRequest(url.uri()).timeout(Math.max(1, remaining(deadline)), TimeUnit.NANOSECONDS)
                    .headers(headers -> headers.put(HttpHeader.USER_AGENT, "kinema").put(HttpHeader.ACCEPT, "*/*")
                            .put(HttpHeader.ACCEPT_ENCODING, "identity").put(HttpHeader.CONNECTION, "close"));
            request.send(listener);
            Response response = listener.get(Math.max(1, remaining(deadline)), TimeUnit.NANOSECONDS);
            if (REDIRECTS.contains(response.getStatus())) {
                String location = response.getHeaders().get(HttpHeader.LOCATION);
                request.abort(new RefusedUrlException("redirected"));
                if (location == null || location.isBlank()) {
                    throw new RefusedUrlException("an address that redirects to nowhere, expected a file");
                }
                return new Answer(location.strip());
            }
            requireFile(response, mostBytes);
            copy(listener.getInputStream(), target, mostBytes, deadline);
            return new Answer("");
        } catch (ExecutionException | IOException e) {
            throw refusal(e, deadline);
        } catch (TimeoutException e) {
            throw tooSlow();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw tooSlow();
        }
    }

    private static void requireFile(Response response, long mostBytes) {
        if (response.getStatus() != OK) {
            throw new RefusedUrlException("an address that answers with status " + response.getStatus() + ", expected a file");
        }
        String encoding = response.getHeaders().get(HttpHeader.CONTENT_ENCODING);
        if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
            throw new RefusedUrlException("an address that answers with compressed content, expected the plain file");
        }
        if (response.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH) > mostBytes) {
            throw tooLarge(mostBytes);
        }
    }

    private static void copy(InputStream from, Path target, long mostBytes, long deadline) throws IOException {
        byte[] buffer = new byte[CHUNK];
        long count = 0;
        try (StagedOutput out = StagedOutput.to(target)) {
            for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
                count += read;
                if (count > mostBytes) {
                    throw tooLarge(mostBytes);
                }
                if (remaining(deadline) < 0) {
                    throw tooSlow();
                }
                out.write(buffer, 0, read);
            }
        }
    }

    private static RefusedUrlException refusal(Exception failure, long deadline) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RefusedUrlException refused) {
                return refused;
            }
            if (cause instanceof TimeoutException) {
                return tooSlow();
            }
        }
        return remaining(deadline) <= 0 ? tooSlow() : new RefusedUrlException("an address that cannot be reached or breaks off, expected a file");
    }

    private static RefusedUrlException tooSlow() {
        return new RefusedUrlException("an address that does not deliver its file in time, expected a faster one or an upload");
    }

    private static RefusedUrlException tooLarge(long mostBytes) {
        return new RefusedUrlException("a file larger than the " + mostBytes + " bytes allowed, expected a smaller one", true);
    }

    private static long remaining(long deadline) {
        return deadline - System.nanoTime();
    }

    @Override
    public void close() {
        try {
            client.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the HTTP client for references does not stop", e);
        } finally {
            lookups.shutdownNow();
        }
    }
}

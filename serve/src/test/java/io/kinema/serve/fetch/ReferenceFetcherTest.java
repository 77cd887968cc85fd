package io.kinema.serve.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kinema.serve.problem.Problem;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is fetched, and what is not. 127.0.0.2 plays the public internet here; 127.0.0.1 stays what it is. */
class ReferenceFetcherTest {
    private static final InetAddress OUTSIDE = InetAddress.ofLiteral("127.0.0.2");
    private static final InetAddress INSIDE = InetAddress.ofLiteral("127.0.0.1");
    private static final AddressRule RULE = address -> address.equals(OUTSIDE) || AddressRule.PUBLIC.allows(address);
    private static final Duration A_WHILE = Duration.ofMinutes(5);
    private static final byte[] CONTENT = "a picture".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;
    private WebServer web;
    private WebServer internal;

    @BeforeEach
    void start() throws IOException {
        web = new WebServer("127.0.0.2");
        internal = new WebServer("127.0.0.1").file("/secret", CONTENT);
    }

    @AfterEach
    void stop() {
        web.close();
        internal.close();
    }

    private String at(String path) {
        return "http://pictures.example:" + web.port() + path;
    }

    private static FetchPolicy policy(HostResolver resolver, Duration longest) {
        return new FetchPolicy(Set.of(), RULE, resolver, longest, 3, 4);
    }

    private String fetch(String url) {
        return fetch(url, policy(host -> List.of(host.equals("inside.example") ? INSIDE : OUTSIDE), A_WHILE));
    }

    private String fetch(String url, FetchPolicy policy) {
        Path target = folder.resolve("fetched");
        try (ReferenceFetcher fetcher = new ReferenceFetcher(policy)) {
            fetcher.fetch(url, target, 1000);
            return Files.readString(target);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void refuses(String url, String reason) {
        assertThatThrownBy(() -> fetch(url)).isInstanceOf(RefusedUrlException.class).hasMessageContaining(reason);
    }

    @Test
    void aFullDiskIsNotTheAddresssFault() {
        web.file("/picture.png", CONTENT);
        try (ReferenceFetcher fetcher = new ReferenceFetcher(policy(host -> List.of(OUTSIDE), A_WHILE))) {
            assertThatThrownBy(() -> fetcher.fetch(at("/picture.png"), Path.of("/dev/full"), 1000)).isInstanceOf(Problem.class).hasMessageContaining("no room");
        }
    }

    @Test
    void aFileIsCopied() {
        web.file("/picture.png", CONTENT);
        assertThat(fetch(at("/picture.png"))).isEqualTo("a picture");
        assertThat(fetch(at("/picture.png?size=large&x=%20#part"))).isEqualTo("a picture");
        assertThat(fetch("http://127.0.0.2:" + web.port() + "/picture.png")).isEqualTo("a picture");
    }

    @Test
    void lettersBeyondAsciiAreSentAsPercentSigns() {
        web.file("/", CONTENT);
        assertThat(fetch(at("/\u89c6\u9891(1).png"))).isEqualTo("a picture");
    }

    @Test
    void redirectsAreFollowedOutsideOnly() {
        web.file("/picture.png", CONTENT).redirect("/relative", "picture.png").redirect("/absolute", at("/relative")).redirect("/loop", "/loop")
                .redirect("/inward", "http://127.0.0.1:" + internal.port() + "/secret").redirect("/decimal", "http://2130706433:" + internal.port() + "/secret")
                .redirect("/named", "http://inside.example:" + internal.port() + "/secret").redirect("/file", "file:///etc/passwd")
                .redirect("/metadata", "http://169.254.169.254/latest/meta-data/").redirect("/mapped", "http://[::ffff:127.0.0.1]:" + internal.port() + "/secret")
                .redirect("/user", "http://x@127.0.0.2/").page("/nowhere", exchange -> exchange.sendResponseHeaders(302, -1));
        assertThat(fetch(at("/absolute"))).isEqualTo("a picture");
        refuses(at("/loop"), "redirects more than 3 times");
        refuses(at("/inward"), "not on the public internet");
        refuses(at("/decimal"), "unusual notation");
        refuses(at("/named"), "not on the public internet");
        refuses(at("/file"), "scheme 'file'");
        refuses(at("/metadata"), "not on the public internet");
        refuses(at("/mapped"), "not on the public internet");
        refuses(at("/user"), "user name");
        refuses(at("/nowhere"), "redirects to nowhere");
        assertThat(internal.requests()).isZero();
    }

    /** The name is looked up once: what it means a moment later is nobody's business. */
    @Test
    void anAnswerThatChangesChangesNothing() {
        web.file("/picture.png", CONTENT);
        AtomicInteger asked = new AtomicInteger();
        HostResolver changing = host -> List.of(asked.getAndIncrement() == 0 ? OUTSIDE : INSIDE);
        assertThat(fetch(at("/picture.png"), policy(changing, A_WHILE))).isEqualTo("a picture");
        assertThat(asked).hasValue(1);
        assertThatThrownBy(() -> fetch("http://pictures.example:" + internal.port() + "/secret", policy(changing, A_WHILE)))
                .isInstanceOf(RefusedUrlException.class).hasMessageContaining("not on the public internet");
        assertThat(internal.requests()).isZero();
    }

    @Test
    void oneInwardAddressAmongOthersIsATrick() {
        web.file("/picture.png", CONTENT);
        assertThatThrownBy(() -> fetch(at("/picture.png"), policy(host -> List.of(OUTSIDE, INSIDE), A_WHILE)))
                .hasMessageContaining("not on the public internet");
        assertThat(web.requests()).isZero();
    }

    @Test
    void aNameThatLeadsNowhereIsRefused() {
        assertThatThrownBy(() -> fetch(at("/"), policy(host -> {
            throw new UnknownHostException(host);
        }, A_WHILE))).hasMessageContaining("leads nowhere");
    }

    @Test
    void filesBeyondTheLimitAreRefused() {
        web.file("/declared", new byte[1001]).page("/endless", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            for (int i = 0; i < 1_000_000; i++) {
                exchange.getResponseBody().write(new byte[1000]);
            }
        }).page("/compressed", exchange -> {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            exchange.sendResponseHeaders(200, 3);
            exchange.getResponseBody().write(new byte[3]);
        });
        for (String path : List.of("/declared", "/endless")) {
            RefusedUrlException refused = catchThrowableOfType(RefusedUrlException.class, () -> fetch(at(path)));
            assertThat(refused).as(path).hasMessageContaining("larger than the 1000 bytes");
            assertThat(refused.tooLarge()).isTrue();
        }
        refuses(at("/compressed"), "compressed content");
    }

    @Test
    void whatIsNoFileIsRefused() {
        web.page("/missing", exchange -> exchange.sendResponseHeaders(404, -1)).page("/broken", exchange -> {
            exchange.sendResponseHeaders(200, 500);
            exchange.getResponseBody().write(CONTENT);
            exchange.getResponseBody().flush();
            throw new IOException("breaks off");
        });
        refuses(at("/missing"), "status 404");
        refuses(at("/broken"), "breaks off");
        refuses("http://127.0.0.2:1/", "cannot be reached");
    }

    @Test
    void whoeverDripsIsCutOff() {
        web.page("/drip", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            for (int i = 0; i < 6000; i++) {
                exchange.getResponseBody().write(1);
                exchange.getResponseBody().flush();
                pause();
            }
        }).page("/silent", exchange -> {
            for (int i = 0; i < 6000; i++) {
                pause();
            }
        });
        FetchPolicy hasty = policy(host -> List.of(OUTSIDE), Duration.ofMillis(400));
        for (String path : List.of("/drip", "/silent")) {
            assertThatThrownBy(() -> fetch(at(path), hasty)).as(path).isInstanceOf(RefusedUrlException.class).hasMessageContaining("in time");
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void onlyListedHostsAreFetchedWhereThereIsAList() {
        web.file("/picture.png", CONTENT);
        FetchPolicy listed = new FetchPolicy(Set.of("Pictures.example"), RULE, host -> List.of(OUTSIDE), A_WHILE, 3, 4);
        assertThat(fetch(at("/picture.png"), listed)).isEqualTo("a picture");
        assertThatThrownBy(() -> fetch("http://other.example:" + web.port() + "/picture.png", listed)).hasMessageContaining("does not fetch from");
        web.redirect("/away", "http://other.example:" + web.port() + "/picture.png");
        assertThatThrownBy(() -> fetch(at("/away"), listed)).hasMessageContaining("does not fetch from");
    }
}

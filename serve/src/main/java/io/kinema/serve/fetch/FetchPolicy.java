package io.kinema.serve.fetch;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What may be fetched.
 *
 * @param hosts     the only hosts, where some are named; all of the public internet when empty
 * @param addresses which addresses may be connected to, whatever the host
 * @param resolver  looks hosts up
 * @param longest   for one reference with all its redirects
 * @param redirects most redirects
 * @param atOnce    most references fetched at the same time
 */
public record FetchPolicy(Set<String> hosts, AddressRule addresses, HostResolver resolver, Duration longest, int redirects, int atOnce) {
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final int REDIRECTS = 3;
    private static final int AT_ONCE = 8;

    public FetchPolicy {
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
        Objects.requireNonNull(addresses, "addresses");
        Objects.requireNonNull(resolver, "resolver");
        Objects.requireNonNull(longest, "longest");
    }

    /** Public addresses, 30 s, 3 redirects, 8 at once; only these hosts where some are named. */
    public static FetchPolicy onlyPublic(Set<String> hosts) {
        return new FetchPolicy(hosts, AddressRule.PUBLIC, HostResolver.SYSTEM, LONGEST, REDIRECTS, AT_ONCE);
    }
}

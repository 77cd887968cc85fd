package io.kinema.serve.fetch;

import java.net.IDN;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An address that a reference may be fetched from, as far as its text says: http or https, an absolute host, no user name.
 *
 * @param uri     what is requested; ASCII, without fragment
 * @param host    lower case, without brackets
 * @param port    1 to 65535
 * @param literal the address where the host is one
 */
public record ReferenceUrl(URI uri, String host, int port, Optional<InetAddress> literal) {
    /** Longest address. */
    public static final int LONGEST = 4096;
    private static final Pattern DOTTED = Pattern.compile("(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3}");
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*\\.?");
    private static final Pattern NUMBER = Pattern.compile("\\d+|0x[0-9a-f]*");
    private static final int HTTP = 80;
    private static final int HTTPS = 443;
    private static final int LAST_PORT = 65535;

    /** @throws RefusedUrlException when it is no such address */
    public static ReferenceUrl parse(String text) {
        if (text.length() > LONGEST) {
            throw new RefusedUrlException("an address of " + text.length() + " characters, expected at most " + LONGEST);
        }
        return of(uri(text));
    }

    /** Where a redirect leads, which is held to the same rules. */
    ReferenceUrl redirected(String location) {
        if (location.length() > LONGEST) {
            throw new RefusedUrlException("a redirect to an address of " + location.length() + " characters, expected at most " + LONGEST);
        }
        return of(uri.resolve(uri(location)));
    }

    private static ReferenceUrl of(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new RefusedUrlException("an address of scheme '" + scheme + "', expected http, https or data");
        }
        if (uri.getRawUserInfo() != null || (uri.getRawAuthority() != null && uri.getRawAuthority().indexOf('@') >= 0)) {
            throw new RefusedUrlException("an address with a user name, expected one without");
        }
        if (uri.getHost() == null || uri.getHost().isEmpty()) {
            throw new RefusedUrlException("an address without a plain host name, expected one like https://example.com/picture.png");
        }
        int port = uri.getPort() >= 0 ? uri.getPort() : scheme.equals("http") ? HTTP : HTTPS;
        if (port < 1 || port > LAST_PORT) {
            throw new RefusedUrlException("an address with port " + port + ", expected 1 to " + LAST_PORT);
        }
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        Optional<InetAddress> literal = literal(host);
        return new ReferenceUrl(plain(uri, scheme, host, port), literal.isPresent() ? host.replaceAll("[\\[\\]]", "") : host, port, literal);
    }

    /** A host in brackets, or one that ends in a number as browsers judge it; those in odd notations are refused. */
    private static Optional<InetAddress> literal(String host) {
        if (host.startsWith("[")) {
            if (host.indexOf('%') >= 0) {
                throw new RefusedUrlException("an address with a zone, expected a plain one");
            }
            return Optional.of(address(host));
        }
        String bare = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        if (!NUMBER.matcher(bare.substring(bare.lastIndexOf('.') + 1)).matches()) {
            if (!NAME.matcher(host).matches()) {
                throw new RefusedUrlException("an address without a plain host name, expected one like https://example.com/picture.png");
            }
            return Optional.empty();
        }
        // Decimal, octal, hexadecimal and short notations mean one address here and another there.
        if (!DOTTED.matcher(host).matches()) {
            throw new RefusedUrlException("a numeric host in an unusual notation, expected a name or four decimal numbers");
        }
        return Optional.of(address(host));
    }

    private static InetAddress address(String literal) {
        try {
            return InetAddress.ofLiteral(literal.replaceAll("[\\[\\]]", ""));
        } catch (IllegalArgumentException e) {
            throw new RefusedUrlException("a numeric host that is no address, expected a name or a plain address");
        }
    }

    private static URI uri(String text) {
        String ascii = ascii(text.strip());
        try {
            return new URI(ascii);
        } catch (URISyntaxException e) {
            throw new RefusedUrlException("text that is no address, expected one like https://example.com/picture.png");
        }
    }

    /** Letters beyond ASCII: percent signs in the path, Punycode in the host. */
    private static String ascii(String text) {
        if (text.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            return text;
        }
        if (text.chars().anyMatch(c -> c <= ' ' || c == 0x7f || c == '\\')) {
            throw new RefusedUrlException("an address with blanks or control characters, expected them as %20 and the like");
        }
        int start = text.indexOf("://");
        int end = start < 0 ? -1 : start + 3;
        while (end >= 0 && end < text.length() && "/?#".indexOf(text.charAt(end)) < 0) {
            end++;
        }
        if (start < 0) {
            return escaped(text);
        }
        try {
            return text.substring(0, start + 3) + IDN.toASCII(text.substring(start + 3, end)) + escaped(text.substring(end));
        } catch (IllegalArgumentException e) {
            throw new RefusedUrlException("an address without a plain host name, expected one like https://example.com/picture.png");
        }
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (byte octet : text.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
            if (octet < 0) {
                out.append('%').append(Character.toUpperCase(Character.forDigit(octet >> 4 & 15, 16)))
                        .append(Character.toUpperCase(Character.forDigit(octet & 15, 16)));
            } else {
                out.append((char) octet);
            }
        }
        return out.toString();
    }

    private static URI plain(URI uri, String scheme, String host, int port) {
        String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        try {
            return new URI(scheme + "://" + host + ":" + port + path + query);
        } catch (URISyntaxException e) {
            throw new RefusedUrlException("text that is no address, expected one like https://example.com/picture.png");
        }
    }

    /** The addresses to connect to: the literal one, or all that the host has now. */
    java.util.List<InetAddress> addresses(HostResolver resolver) {
        try {
            return literal.isPresent() ? java.util.List.of(literal.get()) : resolver.addresses(host);
        } catch (UnknownHostException e) {
            throw new RefusedUrlException("a host name that leads nowhere, expected one of the public internet");
        }
    }
}

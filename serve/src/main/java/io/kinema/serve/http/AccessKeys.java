package io.kinema.serve.http;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The bearer tokens that open the server. Only their hashes are kept, and a token is compared with every one of them in a time that
 * does not depend on what is in it.
 */
public final class AccessKeys {
    /** Shortest token. */
    public static final int SHORTEST = 16;
    private static final int LONGEST = 512;
    private static final Pattern NAMED = Pattern.compile("([A-Za-z0-9][A-Za-z0-9._-]{0,63})\\s*=\\s*(\\S+)");
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]+");
    private static final String SCHEME = "Bearer ";

    /**
     * @param owner who has the token
     * @param hash  SHA-256 of the token
     */
    private record Key(String owner, byte[] hash) {
    }

    private final List<Key> keys;

    private AccessKeys(List<Key> keys) {
        this.keys = List.copyOf(keys);
    }

    /** For a server that only this machine can reach. */
    public static AccessKeys none() {
        return new AccessKeys(List.of());
    }

    /**
     * Reads tokens, one a line: {@code TOKEN} or {@code NAME=TOKEN}; blank lines and those that begin with # say nothing. A name is
     * whose jobs they are; a token without one is named by its hash.
     *
     * @throws IllegalArgumentException when there is none, or one is unusable; the message does not show it
     */
    public static AccessKeys parse(String text) {
        List<Key> keys = new ArrayList<>();
        int number = 0;
        for (String line : text.lines().map(String::strip).toList()) {
            number++;
            if (!line.isEmpty() && !line.startsWith("#")) {
                keys.add(key(line, number));
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("token: got none, expected one of at least " + SHORTEST + " printable characters");
        }
        return new AccessKeys(keys);
    }

    private static Key key(String line, int number) {
        var named = NAMED.matcher(line);
        // A token in base64 may end in =, which then does not separate a name from it.
        boolean hasName = named.matches() && !named.group(2).matches("=*");
        String token = hasName ? named.group(2) : line;
        if (token.length() < SHORTEST || token.length() > LONGEST || !TOKEN.matcher(token).matches()) {
            throw new IllegalArgumentException("token: line " + number + " has one of " + token.length() + " characters, expected " + SHORTEST + " to " + LONGEST
                    + " printable ones without blanks");
        }
        byte[] hash = sha256(token);
        return new Key(hasName ? named.group(1) : "key-" + HexFormat.of().formatHex(hash, 0, 4), hash);
    }

    /** True when anybody may call. */
    public boolean open() {
        return keys.isEmpty();
    }

    /** Who calls. @param authorization the header, empty when there is none @throws Problem when it opens nothing */
    public Caller caller(String authorization) {
        if (keys.isEmpty()) {
            return new Caller(Optional.empty());
        }
        boolean bearer = authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
        byte[] got = sha256(bearer ? authorization.substring(SCHEME.length()).strip() : "");
        Optional<String> owner = Optional.empty();
        for (Key key : keys) {
            if (MessageDigest.isEqual(key.hash(), got)) {
                owner = Optional.of(key.owner());
            }
        }
        if (owner.isEmpty()) {
            throw Problem.of(ProblemKind.UNAUTHORISED, "authorization: got " + (authorization.isEmpty() ? "none" : bearer ? "an unknown token" : "another scheme")
                    + ", expected Bearer and a token of this server");
        }
        return new Caller(owner);
    }

    private static byte[] sha256(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}

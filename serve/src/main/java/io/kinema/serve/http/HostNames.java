package io.kinema.serve.http;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * The names by which this server lets itself be called. A page of another site can make a browser look its own name up as this
 * machine's address (DNS rebinding) or post forms here; its Host or Origin header gives it away.
 */
public final class HostNames {
    private final Set<String> names = new TreeSet<>();
    private final boolean beyondLoopback;

    /**
     * @param bound what the server listens on
     * @param more  further names, for example the one a proxy passes on
     */
    public HostNames(String bound, Set<String> more) {
        names.add("localhost");
        names.add(bound.toLowerCase(Locale.ROOT));
        more.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
        beyondLoopback = !isLoopback(bound);
        if (beyondLoopback) {
            machineName(names);
        }
    }

    /** True when this host means only this machine. @throws IllegalArgumentException when it means none */
    public static boolean isLoopback(String host) {
        try {
            InetAddress[] addresses = InetAddress.getAllByName(host);
            for (InetAddress address : addresses) {
                if (!address.isLoopbackAddress()) {
                    return false;
                }
            }
            return true;
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("host: got '" + host + "', expected an address or a name of this machine", e);
        }
    }

    private static void machineName(Set<String> names) {
        try {
            names.add(InetAddress.getLocalHost().getHostName().toLowerCase(Locale.ROOT));
        } catch (UnknownHostException nameless) {
            // Then it is called by its address.
        }
    }

    /** @param host the Host header, empty when there is none @throws Problem when it names another server */
    public void requireOwn(String host) {
        String name = name(host);
        if (!names.contains(name) && !ownLiteral(name)) {
            throw Problem.field(ProblemKind.MISDIRECTED, "host", "'" + Problem.printable(name, 60) + "'", "expected localhost, an address or a name that the "
                    + "server was started with (--allow-host)");
        }
    }

    /**
     * @param origin    the Origin header, empty when there is none
     * @param fetchSite the Sec-Fetch-Site header, empty when there is none
     * @param host      the Host header
     * @throws Problem when a browser says that the request comes from a page of another site
     */
    public void requireSameOrigin(String origin, String fetchSite, String host) {
        boolean foreign = fetchSite.equals("cross-site") || fetchSite.equals("same-site");
        int scheme = origin.indexOf("://");
        if (foreign || !origin.isEmpty() && (scheme < 0 || !origin.substring(scheme + 3).equalsIgnoreCase(host))) {
            throw Problem.of(ProblemKind.FORBIDDEN, "origin: got a page of another site, expected one of this server or a program");
        }
    }

    /** Rebinding needs a name; an address is what it says. */
    private boolean ownLiteral(String name) {
        try {
            InetAddress address = InetAddress.ofLiteral(name);
            return beyondLoopback || address.isLoopbackAddress();
        } catch (IllegalArgumentException aName) {
            return false;
        }
    }

    /** Without port and brackets. */
    private static String name(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        if (lower.startsWith("[")) {
            return lower.substring(1, Math.max(1, lower.indexOf(']')));
        }
        int colon = lower.lastIndexOf(':');
        String name = colon < 0 ? lower : lower.substring(0, colon);
        return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
    }
}

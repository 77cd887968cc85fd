package io.kinema.serve.fetch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Looks host names up. */
@FunctionalInterface
public interface HostResolver {
    /** As the machine does it. */
    HostResolver SYSTEM = host -> List.of(InetAddress.getAllByName(host));

    /** Every address of the host. @throws UnknownHostException when it has none */
    List<InetAddress> addresses(String host) throws UnknownHostException;
}

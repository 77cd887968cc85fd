package io.kinema.serve.fetch;

import java.net.InetAddress;

/** Says which addresses may be connected to. */
@FunctionalInterface
public interface AddressRule {
    /** Every address of the public internet and no other. */
    AddressRule PUBLIC = new PublicAddresses();

    boolean allows(InetAddress address);
}

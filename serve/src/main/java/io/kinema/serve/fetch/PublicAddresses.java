package io.kinema.serve.fetch;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Tells addresses of the public internet from all others: IANA's special-purpose registries (RFC 6890 and its successors) and the
 * places where clouds keep their metadata.
 */
public final class PublicAddresses implements AddressRule {
    /** IPv4 blocks that are not the public internet. */
    private static final List<Block> NOT_PUBLIC_4 = Block.all(
            "0.0.0.0/8", // this network
            "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private
            "100.64.0.0/10", // carrier-grade NAT; one cloud's metadata at 100.100.100.200
            "127.0.0.0/8", // loopback
            "169.254.0.0/16", // link-local; the usual metadata address 169.254.169.254
            "192.0.0.0/24", // IETF protocols; another cloud's metadata at 192.0.0.192
            "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // documentation
            "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", // AS112 and AMT anycast
            "192.88.99.0/24", // 6to4 relays
            "198.18.0.0/15", // benchmarks
            "168.63.129.16/32", // a cloud's host agent, on an address that looks public
            "224.0.0.0/4", // multicast
            "240.0.0.0/4"); // reserved, broadcast
    /** The one block of global IPv6 unicast. Whatever lies outside (mapped, NAT64, unique local, link-local, multicast) is not public. */
    private static final Block GLOBAL_6 = Block.of("2000::/3");
    /** Parts of it that are not the public internet, or carry an IPv4 address that would have to be judged instead. */
    private static final List<Block> NOT_PUBLIC_6 = Block.all(
            "2001::/23", // IETF protocols: Teredo, benchmarks, ORCHID
            "2001:db8::/32", "3fff::/20", // documentation
            "2002::/16", // 6to4
            "2620:4f:8000::/48", // AS112
            "5f00::/16"); // segment routing

    @Override
    public boolean allows(InetAddress address) {
        byte[] octets = address.getAddress();
        return switch (address) {
            case Inet4Address four -> NOT_PUBLIC_4.stream().noneMatch(block -> block.holds(octets));
            case Inet6Address six -> six.getScopeId() == 0 && GLOBAL_6.holds(octets) && !isatap(octets)
                    && NOT_PUBLIC_6.stream().noneMatch(block -> block.holds(octets));
            default -> false;
        };
    }

    /** An interface identifier that carries an IPv4 address (RFC 5214): ...:0:5efe:a.b.c.d or ...:200:5efe:a.b.c.d. */
    private static boolean isatap(byte[] octets) {
        return (octets[8] & 0xfd) == 0 && octets[9] == 0 && octets[10] == 0x5e && octets[11] == (byte) 0xfe;
    }

    /** All addresses that begin with the first {@code bits} bits of {@code network}. */
    private record Block(byte[] network, int bits) {
        static Block of(String text) {
            int slash = text.indexOf('/');
            try {
                // A literal address: nothing is looked up.
                return new Block(InetAddress.getByName(text.substring(0, slash)).getAddress(), Integer.parseInt(text.substring(slash + 1)));
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(text, e);
            }
        }

        static List<Block> all(String... texts) {
            return Arrays.stream(texts).map(Block::of).toList();
        }

        boolean holds(byte[] octets) {
            if (octets.length != network.length) {
                return false;
            }
            int whole = bits / Byte.SIZE;
            int rest = bits % Byte.SIZE;
            int mask = 0xff << (Byte.SIZE - rest);
            return Arrays.mismatch(octets, 0, whole, network, 0, whole) < 0
                    && (rest == 0 || ((octets[whole] ^ network[whole]) & mask) == 0);
        }
    }
}

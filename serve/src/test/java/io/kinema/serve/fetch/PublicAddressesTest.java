package io.kinema.serve.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {
    @ParameterizedTest
    @ValueSource(strings = {"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.167.255.255", "198.17.0.1", "198.20.0.1",
            "223.255.255.255", "2606:4700::1111", "2a00:1450:4001:80b::200e", "2001:4860:4860::8888"})
    void publicAddressesArePublic(String address) {
        assertThat(AddressRule.PUBLIC.allows(InetAddress.ofLiteral(address))).isTrue();
    }

    /** An address that the JDK itself knows to be special is never public, in whatever notation. */
    @Property
    void whatTheJdkKnowsToBeInwardIsNotPublic(@ForAll @Size(4) byte[] octets) throws Exception {
        InetAddress address = InetAddress.getByAddress(octets);
        if (address.isAnyLocalAddress() || address.isLoopbackAddress() || address.isLinkLocalAddress() || address.isSiteLocalAddress() || address.isMulticastAddress()) {
            assertThat(AddressRule.PUBLIC.allows(address)).isFalse();
        }
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = (byte) 0xff;
        System.arraycopy(octets, 0, mapped, 12, 4);
        assertThat(AddressRule.PUBLIC.allows(InetAddress.getByAddress(mapped))).isEqualTo(AddressRule.PUBLIC.allows(address));
        byte[] sixToFour = new byte[16];
        sixToFour[0] = 0x20;
        sixToFour[1] = 0x02;
        System.arraycopy(octets, 0, sixToFour, 2, 4);
        assertThat(AddressRule.PUBLIC.allows(InetAddress.getByAddress(sixToFour))).isFalse();
    }

    @Property
    void onlyGlobalUnicastIsPublic(@ForAll @Size(16) byte[] octets) throws Exception {
        InetAddress address = InetAddress.getByAddress(octets);
        if (address.getAddress().length == 16 && (octets[0] & 0xe0) != 0x20) {
            assertThat(AddressRule.PUBLIC.allows(address)).isFalse();
        }
    }

    @Property
    void anyTextIsAnAddressOrRefused(@ForAll String text) {
        try {
            assertThat(ReferenceUrl.parse(text).port()).isBetween(1, 65535);
        } catch (RefusedUrlException refused) {
            assertThat(refused.getMessage()).isNotBlank();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"data:", "data:image/png;base64", "data:image/png;base64,A", "data:image/png;base64,!!!!", "data:,%", "data:,%2", "data:,%zz", "data:,\u00e9"})
    void brokenDataAddressesAreRefused(String url) {
        assertThatThrownBy(() -> DataUrl.decode(url, 100)).isInstanceOf(RefusedUrlException.class);
    }

    @Property
    void aDataAddressHoldsItsBytes(@ForAll byte[] bytes) {
        StringBuilder percent = new StringBuilder("data:application/octet-stream,");
        for (byte octet : bytes) {
            percent.append(String.format("%%%02x", octet));
        }
        assertThat(DataUrl.decode(percent.toString(), bytes.length)).isEqualTo(bytes);
        String base64 = "DATA:image/png;base64," + java.util.Base64.getEncoder().encodeToString(bytes);
        assertThat(DataUrl.decode(base64, bytes.length)).isEqualTo(bytes);
        if (bytes.length > 0) {
            assertThatThrownBy(() -> DataUrl.decode(base64, bytes.length - 1L)).isInstanceOf(RefusedUrlException.class);
        }
    }
}

package io.kinema.serve.fetch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Addresses that a server must not fetch for anybody, and the names among them. */
public final class HostileUrls {
    private static final Map<String, List<String>> NAMES = Map.of("localhost", List.of("127.0.0.1", "::1"), "metadata.google.internal", List.of("169.254.169.254"),
            "printer.local", List.of("192.168.1.20"), "mixed.example", List.of("93.184.216.34", "10.0.0.1"), "six.example", List.of("fd00::1"),
            "mapped.example", List.of("::ffff:10.0.0.1"));

    private HostileUrls() {
    }

    public static Stream<String> all() {
        return Stream.of("http://127.0.0.1/", "http://127.0.0.1:22/", "http://127.8.9.10/", "http://localhost/x.png", "http://LOCALHOST./", "http://0.0.0.0/", "http://0/",
                "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7F.0.0.1/", "http://0177.0.0.1/", "http://017700000001/",
                "http://127.0.0.1./", "http://127.0.0.01/", "http://4294967297/", "http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
                "http://[::127.0.0.1]/", "http://[0:0:0:0:0:ffff:a9fe:a9fe]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a00:1]/", "http://[2002:7f00:1::]/",
                "http://[2001:0:53aa:64c:0:fbff:5601:101]/", "http://[2606:4700::5efe:7f00:1]/", "http://[2606:4700::200:5efe:a00:1]/", "http://[fe80::1]/",
                "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/latest/meta-data/", "http://[ff02::1]/", "http://[2001:db8::1]/",
                "http://[100::1]/", "http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1/", "http://169.254.169.254/latest/meta-data/",
                "http://100.64.0.1/", "http://100.100.100.200/latest/meta-data/", "http://192.0.0.192/", "http://168.63.129.16/machine", "http://198.18.0.1/",
                "http://192.0.2.1/", "http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/", "http://metadata.google.internal/computeMetadata/v1/",
                "http://printer.local/", "http://mixed.example/", "http://six.example/", "http://mapped.example/", "http://rebinding.example/", "http://nowhere.example/", "file:///etc/passwd", "FILE:///etc/passwd",
                "ftp://example.com/x.png", "gopher://127.0.0.1:6379/_INFO", "jar:http://127.0.0.1/x.jar!/", "javascript:alert(1)", "ws://127.0.0.1/", "http://user@93.184.216.34/",
                "http://user:secret@127.0.0.1/", "http://example.com@127.0.0.1/", "http://127.0.0.1#@93.184.216.34/", "http://127.0.0.1?@93.184.216.34/",
                "http://93.184.216.34\\@127.0.0.1/", "http:///etc/passwd", "http:127.0.0.1", "//127.0.0.1/x.png", "/etc/passwd", "etc/passwd", "http://", "http://:80/",
                "http://127.0.0.1%2f.example.com/", "http://%31%32%37.0.0.1/", "http://\u2460\u2461\u2466.0.0.1/", "http://127\u30020\u30020\u30021/", "http://exa mple.com/",
                "http://93.184.216.34:0/", "http://93.184.216.34:99999/", "http://93.184.216.34:-1/", "http://[v1.fe80]/", "http://[::1", "http://a..b/", "http://-/", "\u0000http://127.0.0.1/");
    }

    /** Looks the names up. One of them is public when it is first asked for, and private ever after. */
    public static HostResolver resolver() {
        AtomicInteger asked = new AtomicInteger();
        return host -> {
            List<String> found = host.equals("rebinding.example") ? List.of(asked.getAndIncrement() == 0 ? "203.0.113.7" : "127.0.0.1")
                    : NAMES.getOrDefault(host.endsWith(".") ? host.substring(0, host.length() - 1) : host, List.of());
            if (found.isEmpty()) {
                throw new UnknownHostException(host);
            }
            return found.stream().map(InetAddress::ofLiteral).toList();
        };
    }
}

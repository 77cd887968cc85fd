package io.kinema.serve;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** Requests that no decent client would send. */
final class RawHttp {
    private RawHttp() {
    }

    /** Sends these bytes and reads until the server closes the connection. */
    static String send(int port, String request) throws IOException {
        try (Socket socket = open(port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            return rest(socket);
        }
    }

    static Socket open(int port) throws IOException {
        Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port);
        socket.setSoTimeout((int) TestServer.A_WHILE.toMillis());
        return socket;
    }

    /** What comes until the connection is closed, orderly or not. */
    static String rest(Socket socket) throws IOException {
        StringBuilder text = new StringBuilder();
        InputStream in = socket.getInputStream();
        byte[] buffer = new byte[8192];
        try {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                text.append(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
            }
        } catch (SocketException reset) {
            // The server has closed while bytes were under way.
        }
        return text.toString();
    }
}

package io.kinema.jobs.sql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLFeatureNotSupportedException;
import javax.sql.DataSource;

/** Lets a library that wants a data source take part in a transaction of ours: it gets our connection, and closing that does nothing. */
final class OneConnection {
    private OneConnection() {
    }

    static DataSource of(Connection connection) {
        Connection shown = (Connection) Proxy.newProxyInstance(OneConnection.class.getClassLoader(), new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        return null;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return (DataSource) Proxy.newProxyInstance(OneConnection.class.getClassLoader(), new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getConnection")) {
                        return shown;
                    }
                    throw new SQLFeatureNotSupportedException(method.getName());
                });
    }
}

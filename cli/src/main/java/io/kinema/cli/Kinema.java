package io.kinema.cli;

/** The kinema command. */
public final class Kinema {
    private Kinema() {}

    public static void main(String[] arguments) {
        ErrorStream.takeBack();
        System.out.println("kinema 0.1.0");
    }
}

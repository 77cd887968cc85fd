package io.kinema.compute;

/**
 * Something ran in another way than asked for. Never silent: run records list it.
 *
 * @param what   the choice: {@code attention}
 * @param wanted what was asked for
 * @param used   what ran
 * @param reason why, in a few words
 */
public record Fallback(String what, String wanted, String used, String reason) {
}

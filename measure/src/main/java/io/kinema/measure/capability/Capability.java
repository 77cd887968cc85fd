package io.kinema.measure.capability;

/**
 * One thing that this installation can or cannot do.
 *
 * @param group     {@code backend}, {@code precision}, {@code weights}, {@code attention}, {@code option}, ...
 * @param name      within its group
 * @param available yes or no
 * @param reason    why, in a few words
 */
public record Capability(String group, String name, boolean available, String reason) {
    static Capability yes(String group, String name, String reason) {
        return new Capability(group, name, true, reason);
    }

    static Capability no(String group, String name, String reason) {
        return new Capability(group, name, false, reason);
    }
}

package io.kinema.model.adapter;

import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;

/** Which of H3's two transformers an adapter was trained on. */
public enum Partition {
    /** Text and keyframes. */
    TRANSFORMER("transformer", "t2va or fl2va"),
    /** References. */
    TRANSFORMER_REF("transformer_ref", "ref2va");

    private final String label;
    private final String tasks;

    Partition(String label, String tasks) {
        this.label = label;
        this.tasks = tasks;
    }

    /** Name of the component in a model folder. */
    public String label() {
        return label;
    }

    /** The tasks that run on it, for messages. */
    public String tasks() {
        return tasks;
    }

    /** The partition of a task. */
    public static Partition of(String task) {
        return task.equals("ref2va") ? TRANSFORMER_REF : TRANSFORMER;
    }

    /** The one partition of these tasks; empty when there are several. */
    static Optional<Partition> of(Collection<String> tasks) {
        return Arrays.stream(values()).filter(p -> !tasks.isEmpty() && tasks.stream().allMatch(t -> of(t) == p)).findFirst();
    }
}

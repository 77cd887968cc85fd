package io.kinema.model.adapter;

import java.util.List;
import java.util.stream.IntStream;

/**
 * How a distilled adapter must be sampled: what it was trained for, and what gives blur or noise when it is not kept.
 *
 * @param name       of the artefact
 * @param tasks      of {@code t2va}, {@code fl2va}, {@code ref2va}
 * @param schedule   noise levels before the shift, strictly falling, 0 last; one evaluation fewer than values
 * @param videoShift shift of the video's schedule
 * @param audioShift shift of the sound's schedule
 */
public record SamplingContract(String name, List<String> tasks, List<Double> schedule, double videoShift, double audioShift) {
    /** All tasks there are. */
    public static final List<String> TASKS = List.of("t2va", "fl2va", "ref2va");

    public SamplingContract {
        tasks = List.copyOf(tasks);
        schedule = List.copyOf(schedule);
        if (tasks.isEmpty() || !TASKS.containsAll(tasks)) {
            throw new IllegalArgumentException("tasks: got " + tasks + ", expected some of " + TASKS);
        }
        boolean falls = schedule.size() >= 2 && schedule.getLast() == 0;
        for (int i = 1; falls && i < schedule.size(); i++) {
            falls = schedule.get(i) < schedule.get(i - 1);
        }
        if (!falls || !(schedule.getFirst() <= 1)) {
            throw new IllegalArgumentException("schedule: got " + schedule + ", expected two values or more that fall strictly from at most 1 to 0");
        }
        if (!(videoShift > 0 && audioShift > 0 && Double.isFinite(videoShift) && Double.isFinite(audioShift))) {
            throw new IllegalArgumentException("shifts: got " + videoShift + " and " + audioShift + ", expected numbers above 0");
        }
    }

    /** Model evaluations. */
    public int evaluations() {
        return schedule.size() - 1;
    }

    /** Equidistant noise levels. */
    static List<Double> uniform(int evaluations) {
        return IntStream.rangeClosed(0, evaluations).mapToObj(i -> (double) (evaluations - i) / evaluations).toList();
    }
}

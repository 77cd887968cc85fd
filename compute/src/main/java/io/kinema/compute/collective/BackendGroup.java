package io.kinema.compute.collective;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Owns some ranks until it is closed: for each a thread, a backend and its end of the group. The first rank's backend may be used by another thread
 * between calls. A group of one starts no thread before it is asked to. Closing twice is harmless; it waits for running work.
 */
public final class BackendGroup implements AutoCloseable {
    /**
     * One rank.
     *
     * @param ranks   its end of the group, to be used on the rank's thread
     * @param backend its own
     */
    public record Member(Communicator ranks, Backend backend) {
    }

    /** What one rank does in a call. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Member member);
    }

    private final List<Backend> backends;
    private final RankGroup group;
    private final List<DeviceCommunicator> joined;
    private final List<MeasuredCommunicator> ends;
    private boolean closed;

    private BackendGroup(List<Backend> backends, RankGroup group, List<DeviceCommunicator> joined, List<? extends Communicator> ends) {
        this.backends = backends;
        this.group = group;
        this.joined = joined;
        this.ends = ends.stream().map(MeasuredCommunicator::new).toList();
    }

    /** One rank that has no other. @param backend closed with the group */
    public static BackendGroup alone(Backend backend) {
        return new BackendGroup(List.of(backend), RankGroup.open(1, Duration.ofDays(1)), List.of(), List.of(Communicator.ALONE));
    }

    /**
     * Joins ranks: those on the host by a {@link RankGroup}, others by a {@link CommunicatorProvider}.
     *
     * @param backends of the ranks in their order; closed with the group, and when it cannot be made
     * @param timeout  the longest that a rank waits for the others at one point
     * @throws DeviceUnavailableException when there is no way to join ranks on these devices
     */
    public static BackendGroup of(List<Backend> backends, Duration timeout) {
        if (backends.size() == 1) {
            return alone(backends.getFirst());
        }
        RankGroup group = RankGroup.open(backends.size(), timeout);
        try {
            List<Device> devices = backends.stream().map(Backend::device).toList();
            if (devices.stream().allMatch(Device.CPU::equals)) {
                return new BackendGroup(List.copyOf(backends), group, List.of(), group.each(host -> host));
            }
            CommunicatorProvider provider = provider(devices);
            List<DeviceCommunicator> joined = group.open(host -> provider.join(host, backends.get(host.rank())));
            return new BackendGroup(List.copyOf(backends), group, joined, joined);
        } catch (RuntimeException e) {
            group.close();
            backends.forEach(Backend::close);
            throw e;
        }
    }

    private static CommunicatorProvider provider(List<Device> devices) {
        Optional<CommunicatorProvider> found = ServiceLoader.load(CommunicatorProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> provider.serves(devices)).findFirst();
        return found.orElseThrow(() -> new DeviceUnavailableException("ranks on " + devices + ": this build has nothing that adds up values across them; "
                + "use one rank, or ranks on the cpu", null));
    }

    /** How many ranks there are. */
    public int size() {
        return backends.size();
    }

    /** The ranks' backends, in their order. */
    public List<Backend> backends() {
        return backends;
    }

    /** What each rank has given to reductions and gathers so far. */
    public List<Traffic> traffic() {
        return ends.stream().map(MeasuredCommunicator::traffic).toList();
    }

    /** Bytes of buffers that each rank holds for its reductions. */
    public List<Long> bufferBytes() {
        return ends.stream().map(MeasuredCommunicator::bufferBytes).toList();
    }

    /**
     * Runs {@code work} on every rank at once and waits for all.
     *
     * @return what each rank made, in the order of ranks
     * @throws RuntimeException the first failure of any rank, as it was thrown there
     */
    public <T> List<T> each(Work<T> work) {
        return group.each(host -> work.run(member(host.rank())));
    }

    /**
     * {@link #each} for what has to be closed: when a rank fails, what the others made is closed on the threads that made it.
     *
     * @return owned by the caller
     */
    public <T extends AutoCloseable> List<T> open(Work<T> work) {
        return group.open(host -> work.run(member(host.rank())));
    }

    private Member member(int rank) {
        return new Member(ends.get(rank), backends.get(rank));
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<AutoCloseable> owned = new ArrayList<>(backends);
        owned.add(group);
        if (!joined.isEmpty()) {
            owned.add(() -> group.each(host -> {
                joined.get(host.rank()).close();
                return host.rank();
            }));
        }
        closeAll(owned.reversed());
    }

    /** Closes everything whatever fails, and then tells the first failure. */
    private static void closeAll(List<AutoCloseable> owned) {
        RuntimeException first = null;
        for (AutoCloseable one : owned) {
            try {
                one.close();
            } catch (Exception e) {
                RuntimeException failure = e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}

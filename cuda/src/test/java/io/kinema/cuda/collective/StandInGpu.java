package io.kinema.cuda.collective;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.driver.StandInDriver.Values;
import io.kinema.cuda.kernel.KernelManifest;
import io.kinema.cuda.kernel.KernelModules;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceAllocator;
import io.kinema.cuda.memory.DevicePool;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.cuda.ops.OpContext;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/** Owns what a rank has of a GPU, over a stand-in driver, until it is closed. The kernels of collective.cu are written out again here, one element after the other. */
final class StandInGpu implements AutoCloseable {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private final DevicePool pool;
    private final Workspace memory;
    private final RankGpu gpu;

    StandInGpu(StandInDriver driver, int index, long memoryBytes) {
        GpuContext context = own(driver.open(index));
        Device device = new Device(Device.Kind.CUDA, index);
        GpuStream stream = own(new GpuStream(context));
        KernelModules modules = own(KernelModules.load(context, KernelManifest.read(), KernelManifest.choose(90, 90)));
        Launcher launcher = own(new Launcher(modules, stream));
        pool = own(new DevicePool(device.toString(), DeviceAllocator.of(context), memoryBytes));
        memory = own(new DeviceWorkspace("test", device, pool));
        gpu = new RankGpu(context, new OpContext(device, context.facts(), stream, launcher, memory), owner -> new DeviceWorkspace(owner, device, pool));
    }

    static StandInDriver driver() {
        return driver(true);
    }

    /** @param reach whether the GPUs have access to each other's memory */
    static StandInDriver driver(boolean reach) {
        return new StandInDriver(Map.of("kinema_ring_sum", StandInGpu::ringSum, "kinema_peer_narrow", StandInGpu::narrow, "kinema_peer_code", StandInGpu::code,
                "kinema_peer_sum", StandInGpu::peerSum, "kinema_fill", StandInGpu::fill), reach);
    }

    private <T extends AutoCloseable> T own(T part) {
        owned.push(part);
        return part;
    }

    RankGpu gpu() {
        return gpu;
    }

    /** Bytes in use. */
    long usedBytes() {
        return pool.usedBytes();
    }

    /** A tensor with the bits of a host tensor. */
    Tensor upload(Tensor host) {
        Tensor t = memory.allocate(host.dtype(), host.shape().toArray());
        gpu.operations().stream().upload(host.data(), t.data().address(), host.elements() * host.dtype().bytes());
        return t;
    }

    /** A copy on the host. */
    static Tensor download(Tensor t) {
        long bytes = t.elements() * t.dtype().bytes();
        Tensor host = t.dtype() == DType.F32 ? Tensor.ofFloats(new float[(int) t.elements()], t.shape().toArray())
                : Tensor.ofInts(new int[(int) t.elements()], t.shape().toArray());
        MemorySegment.copy(StandInDriver.at(t.data().address()), 0, host.data(), 0, bytes);
        return host;
    }

    private static void fill(Values in) {
        MemorySegment to = in.memory();
        in.i32();
        in.next(1);
        float value = in.f32();
        long elements = in.i64();
        for (long i = 0; i < elements; i++) {
            to.set(F32, i * Float.BYTES, value);
        }
    }

    private static void ringSum(Values in) {
        MemorySegment peers = in.next(PeerRing.MOST_RANKS * Long.BYTES);
        int ranks = in.i32();
        long from = in.i64();
        long to = in.i64();
        long chunk = in.i64();
        MemorySegment[] at = new MemorySegment[ranks];
        for (int k = 0; k < ranks; k++) {
            at[k] = StandInDriver.at(peers.getAtIndex(ValueLayout.JAVA_LONG, k));
        }
        for (long i = from; i < to; i++) {
            int slot = (int) (i / chunk % ranks);
            float x = at[(slot + 1) % ranks].get(F32, i * Float.BYTES);
            for (int k = 2; k <= ranks; k++) {
                x += at[(slot + k) % ranks].get(F32, i * Float.BYTES);
            }
            for (MemorySegment rank : at) {
                rank.set(F32, i * Float.BYTES, x);
            }
        }
    }

    private static void narrow(Values in) {
        MemorySegment sum = in.memory();
        MemorySegment expected = in.next(64);
        MemorySegment possible = in.memory();
        long elements = in.i64();
        for (long i = 0; i < elements; i++) {
            int bits = sum.getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i);
            int matching = 0;
            for (int code = 0; code < 15; code++) {
                matching |= expected.getAtIndex(ValueLayout.JAVA_INT, code) == bits ? 1 << code : 0;
            }
            possible.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, (short) (possible.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i) & matching));
        }
    }

    private static void code(Values in) {
        MemorySegment possible = in.memory();
        MemorySegment codes = in.memory();
        long elements = in.i64();
        MemorySegment unclear = in.memory();
        for (long i = 0; i < elements; i++) {
            int mask = Short.toUnsignedInt(possible.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i));
            boolean one = Integer.bitCount(mask) == 1;
            codes.set(ValueLayout.JAVA_BYTE, i, (byte) (one ? Integer.numberOfTrailingZeros(mask) : 0));
            unclear.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, unclear.get(ValueLayout.JAVA_LONG_UNALIGNED, 0) + (one ? 0 : 1));
        }
    }

    private static void peerSum(Values in) {
        MemorySegment[] x = {in.memory(), in.memory(), in.memory(), in.memory()};
        MemorySegment codes = in.memory();
        MemorySegment trees = in.next(64);
        MemorySegment out = in.memory();
        long elements = in.i64();
        for (long i = 0; i < elements; i++) {
            int packed = trees.getAtIndex(ValueLayout.JAVA_INT, codes.get(ValueLayout.JAVA_BYTE, i));
            float[] v = new float[4];
            for (int k = 0; k < 4; k++) {
                v[k] = x[packed >> 2 * k & 3].get(F32, i * Float.BYTES);
            }
            float first = v[0] + v[1];
            out.set(F32, i * Float.BYTES, (packed & 256) != 0 ? first + (v[2] + v[3]) : (first + v[2]) + v[3]);
        }
    }

    @Override
    public void close() {
        try {
            while (!owned.isEmpty()) {
                owned.pop().close();
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}

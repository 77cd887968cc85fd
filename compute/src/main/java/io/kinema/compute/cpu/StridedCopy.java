package io.kinema.compute.cpu;

import io.kinema.compute.HalfPrecision;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Copies between views of any strides. Neighbouring axes that both views walk regularly are merged first. */
final class StridedCopy {
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Elements per task, about. */
    private static final long GRAIN = 1 << 15;

    private final WorkerPool pool;

    StridedCopy(WorkerPool pool) {
        this.pool = pool;
    }

    /** Copies one run of n elements, given element offsets and strides. */
    private interface Run {
        void copy(long from, long fromStride, long to, long toStride, long n);
    }

    void copy(Tensor src, Tensor dst) {
        Walk walk = Walk.of(src, dst);
        Run run = run(src, dst);
        forEachRun(walk, run);
    }

    void fill(Tensor dst, float value) {
        Walk walk = Walk.of(dst, dst);
        MemorySegment data = dst.data();
        Run run = switch (dst.dtype()) {
            case F64 -> (from, fromStride, to, stride, n) -> {
                for (long i = 0; i < n; i++) {
                    data.set(F64, (to + i * stride) * 8, value);
                }
            };
            case F32 -> (from, fromStride, to, stride, n) -> {
                for (long i = 0; i < n; i++) {
                    data.set(Rows.F32, (to + i * stride) * 4, value);
                }
            };
            case F16 -> fillShorts(data, HalfPrecision.toF16(value));
            case BF16 -> fillShorts(data, HalfPrecision.toBf16(value));
            default -> throw new IllegalArgumentException("fill: got " + dst + ", expected F64, F32, F16 or BF16");
        };
        forEachRun(walk, run);
    }

    private static Run fillShorts(MemorySegment data, short bits) {
        return (from, fromStride, to, stride, n) -> {
            for (long i = 0; i < n; i++) {
                data.set(Rows.I16, (to + i * stride) * 2, bits);
            }
        };
    }

    private void forEachRun(Walk walk, Run run) {
        long each = Math.max(1, GRAIN / Math.max(1, walk.inner));
        long pieces = Math.max(1, Math.ceilDiv(walk.inner, GRAIN));
        long pieceLength = Math.ceilDiv(walk.inner, pieces);
        int tasks = Math.toIntExact(Math.ceilDiv(walk.outer, each) * pieces);
        pool.run(tasks, (i, scratch) -> {
            long piece = i % pieces * pieceLength;
            long n = Math.min(pieceLength, walk.inner - piece);
            long first = i / pieces * each;
            Walk.Cursor at = walk.cursor(first);
            for (long o = first; o < Math.min(walk.outer, first + each); o++) {
                run.copy(at.from() + piece * walk.fromStride, walk.fromStride, at.to() + piece * walk.toStride, walk.toStride, n);
                at.advance();
            }
        });
    }

    private static Run run(Tensor src, Tensor dst) {
        MemorySegment from = src.data();
        MemorySegment to = dst.data();
        if (src.dtype() == dst.dtype()) {
            return same(from, to, src.dtype().bytes());
        }
        DType a = src.dtype();
        DType b = dst.dtype();
        return (at, stride, put, putStride, n) -> {
            for (long i = 0; i < n; i++) {
                set(to, b, put + i * putStride, get(from, a, at + i * stride));
            }
        };
    }

    private static Run same(MemorySegment from, MemorySegment to, int bytes) {
        Run single = switch (bytes) {
            case 1 -> (at, stride, put, putStride, n) -> {
                for (long i = 0; i < n; i++) {
                    to.set(ValueLayout.JAVA_BYTE, put + i * putStride, from.get(ValueLayout.JAVA_BYTE, at + i * stride));
                }
            };
            case 2 -> (at, stride, put, putStride, n) -> {
                for (long i = 0; i < n; i++) {
                    to.set(Rows.I16, (put + i * putStride) * 2, from.get(Rows.I16, (at + i * stride) * 2));
                }
            };
            case 4 -> (at, stride, put, putStride, n) -> {
                for (long i = 0; i < n; i++) {
                    to.set(Rows.I32, (put + i * putStride) * 4, from.get(Rows.I32, (at + i * stride) * 4));
                }
            };
            default -> (at, stride, put, putStride, n) -> {
                for (long i = 0; i < n; i++) {
                    to.set(I64, (put + i * putStride) * 8, from.get(I64, (at + i * stride) * 8));
                }
            };
        };
        return (at, stride, put, putStride, n) -> {
            if (stride == 1 && putStride == 1 && n > 4) {
                MemorySegment.copy(from, at * bytes, to, put * bytes, n * bytes);
            } else {
                single.copy(at, stride, put, putStride, n);
            }
        };
    }

    private static double get(MemorySegment data, DType dtype, long at) {
        return switch (dtype) {
            case F64 -> data.get(F64, at * 8);
            case F32 -> data.get(Rows.F32, at * 4);
            case F16 -> HalfPrecision.fromF16(data.get(Rows.I16, at * 2));
            case BF16 -> HalfPrecision.fromBf16(data.get(Rows.I16, at * 2));
            default -> throw new IllegalArgumentException("copy: got " + dtype + ", expected F64, F32, F16 or BF16");
        };
    }

    private static void set(MemorySegment data, DType dtype, long at, double value) {
        switch (dtype) {
            case F64 -> data.set(F64, at * 8, value);
            case F32 -> data.set(Rows.F32, at * 4, (float) value);
            case F16 -> data.set(Rows.I16, at * 2, HalfPrecision.toF16(HalfPrecision.toOddFloat(value)));
            case BF16 -> data.set(Rows.I16, at * 2, HalfPrecision.toBf16(HalfPrecision.toOddFloat(value)));
            default -> throw new IllegalArgumentException("copy: got " + dtype + ", expected F64, F32, F16 or BF16");
        }
    }
}

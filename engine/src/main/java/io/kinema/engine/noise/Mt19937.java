package io.kinema.engine.noise;

/**
 * The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998): 32-bit words, period 2^19937 - 1, seeded by their
 * {@code init_genrand}. Not safe for use by several threads.
 */
final class Mt19937 {
    private static final int N = 624;
    private static final int M = 397;
    private static final int TWIST = 0x9908b0df;
    private static final int UPPER = 0x80000000;
    private static final int LOWER = 0x7fffffff;

    private final int[] state = new int[N];
    private int next = N;

    Mt19937(int seed) {
        state[0] = seed;
        for (int i = 1; i < N; i++) {
            state[i] = 1812433253 * (state[i - 1] ^ (state[i - 1] >>> 30)) + i;
        }
    }

    /** The next 32 random bits. */
    int nextInt() {
        if (next == N) {
            refill();
        }
        int y = state[next++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        return y ^ (y >>> 18);
    }

    private void refill() {
        for (int i = 0; i < N; i++) {
            int y = (state[i] & UPPER) | (state[(i + 1) % N] & LOWER);
            state[i] = state[(i + M) % N] ^ (y >>> 1) ^ ((y & 1) == 0 ? 0 : TWIST);
        }
        next = 0;
    }
}

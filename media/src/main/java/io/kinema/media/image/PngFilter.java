package io.kinema.media.image;

/** The five row filters of the PNG standard, chosen per row by the smallest sum of absolute differences that it recommends. */
enum PngFilter {
    NONE, SUB, UP, AVERAGE, PAETH;

    private static final int PIXEL_BYTES = RgbImage.CHANNELS;

    /** The filtered row {@code y}, filter byte first; {@code scratch} has one row for each filter. */
    static byte[] best(byte[] rgb, int y, int rowBytes, byte[][] scratch) {
        byte[] best = scratch[0];
        long least = Long.MAX_VALUE;
        for (PngFilter filter : values()) {
            byte[] row = scratch[filter.ordinal()];
            long sum = filter.apply(rgb, y, rowBytes, row);
            if (sum < least) {
                least = sum;
                best = row;
            }
        }
        return best;
    }

    private long apply(byte[] rgb, int y, int rowBytes, byte[] row) {
        row[0] = (byte) ordinal();
        int start = y * rowBytes;
        long sum = 0;
        for (int i = 0; i < rowBytes; i++) {
            int left = i < PIXEL_BYTES ? 0 : rgb[start + i - PIXEL_BYTES] & 0xff;
            int up = y == 0 ? 0 : rgb[start + i - rowBytes] & 0xff;
            int upLeft = i < PIXEL_BYTES || y == 0 ? 0 : rgb[start + i - rowBytes - PIXEL_BYTES] & 0xff;
            byte difference = (byte) (rgb[start + i] - predict(left, up, upLeft));
            row[i + 1] = difference;
            sum += Math.abs(difference);
        }
        return sum;
    }

    private int predict(int left, int up, int upLeft) {
        return switch (this) {
            case NONE -> 0;
            case SUB -> left;
            case UP -> up;
            case AVERAGE -> (left + up) / 2;
            case PAETH -> paeth(left, up, upLeft);
        };
    }

    private static int paeth(int left, int up, int upLeft) {
        int estimate = left + up - upLeft;
        int toLeft = Math.abs(estimate - left);
        int toUp = Math.abs(estimate - up);
        int toUpLeft = Math.abs(estimate - upLeft);
        if (toLeft <= toUp && toLeft <= toUpLeft) {
            return left;
        }
        return toUp <= toUpLeft ? up : upLeft;
    }
}

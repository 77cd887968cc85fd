package io.kinema.media.image;

import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/** Bytes at hand as a channel that can only be read; there is nothing to close. */
final class BytesChannel implements SeekableByteChannel {

    private final byte[] bytes;
    private long position;

    BytesChannel(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public int read(ByteBuffer target) {
        if (position >= bytes.length) {
            return -1;
        }
        int count = Math.min(target.remaining(), bytes.length - (int) position);
        target.put(bytes, (int) position, count);
        position += count;
        return count;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public SeekableByteChannel position(long to) {
        if (to < 0) {
            throw new IllegalArgumentException("position: got " + to + ", expected 0 or more");
        }
        position = to;
        return this;
    }

    @Override
    public long size() {
        return bytes.length;
    }

    @Override
    public int write(ByteBuffer source) {
        throw new NonWritableChannelException();
    }

    @Override
    public SeekableByteChannel truncate(long size) {
        throw new NonWritableChannelException();
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {
        // The bytes belong to whoever made the channel.
    }
}

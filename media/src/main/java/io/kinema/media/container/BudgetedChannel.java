package io.kinema.media.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/** Owns a channel that is read only while there is time for it; closing twice is harmless. */
final class BudgetedChannel implements SeekableByteChannel {

    private final SeekableByteChannel channel;
    private final WorkBudget budget;

    BudgetedChannel(SeekableByteChannel channel, WorkBudget budget) {
        this.channel = channel;
        this.budget = budget;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        budget.check();
        return channel.read(target);
    }

    @Override
    public SeekableByteChannel position(long position) throws IOException {
        budget.check();
        channel.position(position);
        return this;
    }

    @Override
    public long position() throws IOException {
        return channel.position();
    }

    @Override
    public long size() throws IOException {
        return channel.size();
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
        return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

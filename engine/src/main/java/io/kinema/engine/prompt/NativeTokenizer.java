package io.kinema.engine.prompt;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.LongStream;

/**
 * Owns one tokenizer of Hugging Face's native library until it is closed; closing twice is harmless, use after close throws
 * {@link IllegalStateException}. Safe for use by several threads.
 */
final class NativeTokenizer implements AutoCloseable {
    private final long handle;
    /** Readers encode; the writer closes, so native memory is never freed under an encode. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private boolean closed;

    private NativeTokenizer(long handle) {
        this.handle = handle;
    }

    /**
     * @param json content of a {@code tokenizer.json}; truncation and padding it asks for are left out
     * @throws RuntimeException of the native library when the content is not a tokenizer
     */
    static NativeTokenizer of(String json) {
        TokenizerLibrary.load();
        long handle = TokenizersLibrary.LIB.createTokenizerFromString(json);
        TokenizersLibrary.LIB.disableTruncation(handle);
        TokenizersLibrary.LIB.disablePadding(handle);
        return new NativeTokenizer(handle);
    }

    /** Ids of {@code text}, nothing added. */
    int[] encode(String text) {
        lock.readLock().lock();
        try {
            if (closed) {
                throw new IllegalStateException("tokenizer: used after close");
            }
            long encoding = TokenizersLibrary.LIB.encode(handle, text, false);
            try {
                return LongStream.of(TokenizersLibrary.LIB.getTokenIds(encoding)).mapToInt(Math::toIntExact).toArray();
            } finally {
                TokenizersLibrary.LIB.deleteEncoding(encoding);
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                TokenizersLibrary.LIB.deleteTokenizer(handle);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }
}

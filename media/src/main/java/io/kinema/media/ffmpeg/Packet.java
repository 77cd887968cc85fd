package io.kinema.media.ffmpeg;

import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.global.avcodec;

/** Owns one FFmpeg packet and its bytes; closing twice is harmless. */
public final class Packet implements AutoCloseable {

    private final AVPacket packet;

    private Packet() {
        FFmpeg.load();
        this.packet = FFmpeg.allocated(avcodec.av_packet_alloc(), "a packet");
    }

    /** A packet without bytes, for a demuxer to fill. */
    public static Packet empty() {
        return new Packet();
    }

    /** A packet with a copy of {@code bytes}. */
    public static Packet of(byte[] bytes) {
        Packet owner = new Packet();
        try {
            FFmpeg.check(avcodec.av_new_packet(owner.packet, bytes.length), "allocating a packet");
            owner.packet.data().put(bytes, 0, bytes.length);
            return owner;
        } catch (RuntimeException e) {
            owner.close();
            throw e;
        }
    }

    /** The native packet; valid until {@link #close}. */
    public AVPacket get() {
        return packet;
    }

    /** Drops the bytes and keeps the packet. */
    public void unref() {
        avcodec.av_packet_unref(packet);
    }

    @Override
    public void close() {
        avcodec.av_packet_free(packet);
    }
}

package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.layer.Execution;

/**
 * Owns what stays the same in all steps of one request, until it is closed: refined text rows, rotary tables and row
 * indices on the device. Made by {@link Transformer#prepare}; closing twice is harmless. Dies with its transformer's backends.
 */
public final class DitSequence extends RankPart<DitSequence> {
    private final DitLayout layout;
    private final Workspace memory;
    private final AdaptersInForce adapters;
    private final Tensor text;
    private final Rotary rotary;
    private final Tensor textIndex;
    private final Tensor videoIndex;
    private final Tensor audioIndex;
    private final Tensor wantedIndex;

    DitSequence(Backend backend, Workspace memory, AdaptersInForce adapters, DitLayout layout, Tensor text, Rotary rotary) {
        this.layout = layout;
        this.memory = memory;
        this.adapters = adapters;
        this.text = text;
        this.rotary = rotary;
        this.textIndex = Execution.upload(backend, memory, layout.text());
        this.videoIndex = Execution.upload(backend, memory, layout.video());
        this.audioIndex = Execution.upload(backend, memory, layout.audio());
        this.wantedIndex = Execution.upload(backend, memory, layout.wanted());
    }

    public DitLayout layout() {
        return layout;
    }

    @Override
    DitSequence self() {
        return this;
    }

    @Override
    long ownBytes() {
        return memory.bytes();
    }

    /** The adapters it was made with. */
    AdaptersInForce adapters() {
        return adapters;
    }

    /** FP32 [text rows, hidden]. */
    Tensor text() {
        return text;
    }

    Rotary rotary() {
        return rotary;
    }

    Tensor textIndex() {
        return textIndex;
    }

    Tensor videoIndex() {
        return videoIndex;
    }

    Tensor audioIndex() {
        return audioIndex;
    }

    /** I32: packed rows whose velocities are wanted, video first. */
    Tensor wantedIndex() {
        return wantedIndex;
    }

    @Override
    void closeOwn() {
        memory.close();
    }
}

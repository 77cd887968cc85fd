package io.kinema.quality.compare;

import io.kinema.media.BadMediaException;
import java.util.ArrayList;
import java.util.List;

/** Collects in what the two results are not alike, to refuse them or to say what was compared instead. */
final class Differences {
    private final boolean common;
    private final List<String> notes = new ArrayList<>();

    Differences(boolean common) {
        this.common = common;
    }

    /**
     * Something differs that a common part can still be made of.
     *
     * @param what    names it, with both values
     * @param instead what is compared then
     * @throws BadMediaException unless the common part was asked for
     */
    void differ(String what, String instead) {
        if (!common) {
            throw new BadMediaException(what + "; they are not of one request, or one is incomplete: --common compares what both have.");
        }
        notes.add(what + ": " + instead);
    }

    /** Something worth saying that is no reason to refuse. */
    void note(String note) {
        notes.add(note);
    }

    List<String> notes() {
        return List.copyOf(notes);
    }
}

package io.kinema.model.layout;

/** A published way of storing H3's weights. Which one a folder has is read from its configs and tensor names, never from its own name. */
public enum WeightLayout {
    /** The names and row orders that the networks read. */
    DIFFUSERS("diffusers"),
    /** MiniMax's partitions: other names, fused and per-head interleaved QKV rows, the gate half above the value half. */
    ORIGINAL("original"),
    /** What ComfyUI's exports and the GGUF files made from them hold: MiniMax's names, but all q rows above all k rows above all v rows. */
    COMFYUI("ComfyUI"),
    /** Names and row orders that both layouts share: the text encoder's. */
    EITHER("either");

    private final String label;

    WeightLayout(String label) {
        this.label = label;
    }

    /** The word that {@code kinema inspect} prints. */
    public String label() {
        return label;
    }
}

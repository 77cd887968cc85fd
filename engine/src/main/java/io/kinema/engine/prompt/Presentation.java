package io.kinema.engine.prompt;

import java.util.List;

/**
 * A request as the text encoder reads it: labels and vision blocks of its pictures, videos and sounds, then the prompt, each
 * piece tokenised on its own. No chat template and no special tokens around it. Immutable.
 *
 * <p>Rows of a vision block, its start and end tokens included, carry the video tag 0; all others the text tag 1. The prompt
 * goes through {@link H3Tokenizer#encodePrompt}.
 *
 * <p>Source of the rules: the MiniMax-H3 text encoder blocks of Hugging Face diffusers.
 */
public final class Presentation {
    private final int[] tokenIds;
    private final int[] tags;
    private final List<VisionBlock> blocks;

    Presentation(int[] tokenIds, int[] tags, List<VisionBlock> blocks) {
        this.tokenIds = tokenIds;
        this.tags = tags;
        this.blocks = List.copyOf(blocks);
    }

    /** A text-only request: the prompt and nothing else. */
    public static Presentation ofText(H3Tokenizer tokenizer, String prompt) {
        return new PresentationWriter(tokenizer, 1).prompt(prompt);
    }

    /**
     * An fl2va request: {@code "<Picture i>: "} and a vision block for every keyframe, then the prompt.
     *
     * @param keyframes grids of the keyframes in packed order (first, last), one temporal patch each
     * @param merge     patches along a side that the vision encoder merges into one token (2 in the released model)
     */
    public static Presentation ofKeyframes(H3Tokenizer tokenizer, String prompt, List<VisionGrid> keyframes, int merge) {
        return ofReferences(tokenizer, prompt, keyframes.stream().<PromptReference>map(PromptReference.Image::new).toList(), merge);
    }

    /**
     * A ref2va request: the labels and blocks of every reference in the order given, then the prompt. Pictures, videos and
     * sounds are counted apart from 1; soundtracks and sound clips share one count.
     *
     * @param merge as in {@link #ofKeyframes}
     */
    public static Presentation ofReferences(H3Tokenizer tokenizer, String prompt, List<PromptReference> references, int merge) {
        PresentationWriter writer = new PresentationWriter(tokenizer, merge);
        for (PromptReference reference : references) {
            writer.reference(reference);
        }
        return writer.prompt(prompt);
    }

    /** Number of rows. */
    public int rows() {
        return tokenIds.length;
    }

    /** A copy of the token ids. */
    public int[] tokenIds() {
        return tokenIds.clone();
    }

    /** A copy of the rows' modality tags, which become those of the packed sequence's text rows. */
    public int[] tags() {
        return tags.clone();
    }

    /** The vision blocks in the order of their rows. */
    public List<VisionBlock> blocks() {
        return blocks;
    }

    /** Qwen3-VL's token types: 0 text, 1 picture pad, 2 video pad; start and end tokens are text. */
    public int[] visionTypes() {
        int[] types = new int[tokenIds.length];
        for (VisionBlock block : blocks) {
            int type = switch (block.kind()) {
                case IMAGE -> 1;
                case VIDEO -> 2;
            };
            java.util.Arrays.fill(types, block.start(), block.start() + block.tokens(), type);
        }
        return types;
    }
}

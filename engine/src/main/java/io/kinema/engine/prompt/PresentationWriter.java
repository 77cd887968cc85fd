package io.kinema.engine.prompt;

import io.kinema.engine.layout.Modality;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Writes one presentation from front to back. */
final class PresentationWriter {
    private final H3Tokenizer tokenizer;
    private final int merge;
    private final IntStream.Builder ids = IntStream.builder();
    private final IntStream.Builder tags = IntStream.builder();
    private final List<VisionBlock> blocks = new ArrayList<>();
    private int rows;
    private int pictures;
    private int videos;
    private int sounds;

    PresentationWriter(H3Tokenizer tokenizer, int merge) {
        if (merge < 1) {
            throw new IllegalArgumentException("merge size: got " + merge + ", expected 1 or more");
        }
        this.tokenizer = tokenizer;
        this.merge = merge;
    }

    void reference(PromptReference reference) {
        switch (reference) {
            case PromptReference.Image image -> {
                label("Picture", ++pictures);
                block(VisionBlock.Kind.IMAGE, pictures - 1, 0, image.grid());
            }
            case PromptReference.Video video -> video(video);
            case PromptReference.Audio _ -> label("Audio", ++sounds);
        }
    }

    /** Adds the prompt and ends the presentation. */
    Presentation prompt(String prompt) {
        text(tokenizer.encodePrompt(prompt));
        return new Presentation(ids.build().toArray(), tags.build().toArray(), blocks);
    }

    private void video(PromptReference.Video video) {
        if (video.sound()) {
            label("Audio", ++sounds);
        }
        label("Video", ++videos);
        for (int frame = 0; frame < video.timestamps().size(); frame++) {
            text(tokenizer.encode(VideoTimes.label(video.timestamps().get(frame))));
            block(VisionBlock.Kind.VIDEO, videos - 1, frame, video.grid());
        }
    }

    private void label(String kind, int number) {
        text(tokenizer.encode("<" + kind + " " + number + ">: "));
    }

    private void text(int[] tokens) {
        for (int token : tokens) {
            row(token, Modality.TEXT);
        }
    }

    private void block(VisionBlock.Kind kind, int source, int frame, VisionGrid grid) {
        VisionTokens vision = tokenizer.vision();
        int pads = grid.tokensPerFrame(merge);
        row(vision.start(), Modality.VIDEO);
        blocks.add(new VisionBlock(kind, source, frame, rows, grid.height() / merge, grid.width() / merge));
        for (int i = 0; i < pads; i++) {
            row(kind == VisionBlock.Kind.IMAGE ? vision.imagePad() : vision.videoPad(), Modality.VIDEO);
        }
        row(vision.end(), Modality.VIDEO);
    }

    private void row(int token, Modality modality) {
        ids.add(token);
        tags.add(modality.tag());
        rows++;
    }
}

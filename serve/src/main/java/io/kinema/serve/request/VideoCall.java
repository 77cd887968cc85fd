package io.kinema.serve.request;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.Task;
import io.kinema.serve.problem.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A call for a video as it was written: everything but its pictures, videos and sounds is in its final form.
 *
 * @param request    without media; steps are empty when only grid points were given
 * @param gridPoints {@code num_inference_steps}
 * @param dryRun     only plan it
 * @param media      pictures, videos and sounds, in order
 * @param anchors    keyframe indices, one for each plain picture; empty when the client gave none
 * @param notes      what was understood in another way than it was written, a sentence each
 */
record VideoCall(GenerateRequest request, OptionalInt gridPoints, boolean dryRun, List<MediaInput> media,
                 List<MediaInput.Role> anchors, List<String> notes) {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,6})\\s*[xX\\u00d7*]\\s*(\\d{1,6})");
    private static final int RELEASED_SHORT_EDGE = 768;
    private static final int FPS = 24;

    VideoCall {
        media = List.copyOf(media);
        anchors = List.copyOf(anchors);
        notes = List.copyOf(notes);
    }

    /** @throws Problem when a field is unknown, malformed, or has a value that this server cannot give a meaning */
    static VideoCall parse(ObjectNode body, Offer offer) {
        CallFields fields = CallFields.of(body);
        requireModel(fields, offer);
        NeutralFields.check(fields);
        List<String> notes = new ArrayList<>();
        GenerateRequest.Builder request = GenerateRequest.prompt(fields.text(Field.PROMPT).orElseThrow(() -> Problem.invalid("prompt", "nothing",
                "expected a description of what to see and hear")));
        size(fields, request, offer, notes);
        length(fields, request);
        sampling(fields, request);
        AdapterNames.read(fields, offer).forEach(request::adapter);
        return new VideoCall(request.build(), gridPoints(fields), fields.flag(Field.DRY_RUN).orElse(false), MediaParser.read(fields),
                anchors(fields), notes);
    }

    private static void requireModel(CallFields fields, Offer offer) {
        fields.text(Field.MODEL).ifPresent(model -> {
            if (!model.equals(offer.model()) && !model.equals(Offer.RELEASED)) {
                throw fields.wrong(Field.MODEL, "expected " + offer.model() + ", which this server runs");
            }
        });
    }

    private static void size(CallFields fields, GenerateRequest.Builder request, Offer offer, List<String> notes) {
        OptionalInt width = fields.integer(Field.WIDTH);
        OptionalInt height = fields.integer(Field.HEIGHT);
        fields.text(Field.SIZE).ifPresent(text -> {
            Matcher size = SIZE.matcher(text.strip());
            if (!size.matches()) {
                throw fields.wrong(Field.SIZE, "expected WIDTHxHEIGHT, for example 256x256");
            }
            int w = Integer.parseInt(size.group(1));
            int h = Integer.parseInt(size.group(2));
            if (width.isPresent() && width.getAsInt() != w || height.isPresent() && height.getAsInt() != h) {
                throw fields.wrong(Field.SIZE, "expected it without width and height, or the same size in them");
            }
            request.size(w, h);
        });
        width.ifPresent(request::width);
        height.ifPresent(request::height);
        fields.text(Field.ASPECT_RATIO).filter(text -> !text.strip().equals("auto")).ifPresent(text -> request.aspectRatio(ratio(fields, text)));
        shortEdge(fields, offer, notes);
    }

    private static AspectRatio ratio(CallFields fields, String text) {
        try {
            return AspectRatio.parse(text);
        } catch (BadRequestException e) {
            throw fields.wrong(Field.ASPECT_RATIO, "expected A:B, for example 16:9, or auto");
        }
    }

    /** The canvas follows from the model: a client may say so, and may think of the released model where a smaller one runs. */
    private static void shortEdge(CallFields fields, Offer offer, List<String> notes) {
        OptionalInt given = fields.integer(Field.SHORT_EDGE);
        int edge = offer.geometry().canvasShortEdge();
        if (given.isEmpty() || given.getAsInt() == edge) {
            return;
        }
        if (given.getAsInt() != RELEASED_SHORT_EDGE || fields.flag(Field.STRICT).orElse(false)) {
            throw fields.wrong(Field.SHORT_EDGE, "expected " + edge + ", the model's own");
        }
        notes.add("short_edge " + RELEASED_SHORT_EDGE + " becomes " + edge + ", this model's own");
    }

    private static void length(CallFields fields, GenerateRequest.Builder request) {
        fields.integer(Field.FRAMES).ifPresent(request::frames);
        fields.number(Field.SECONDS).ifPresent(request::seconds);
        OptionalInt fps = fields.integer(Field.FPS);
        if (fps.isPresent() && fps.getAsInt() != FPS) {
            throw fields.wrong(Field.FPS, "expected " + FPS + ", the model's own");
        }
    }

    private static void sampling(CallFields fields, GenerateRequest.Builder request) {
        fields.text(Field.TASK).ifPresent(text -> request.task(Task.labelled(text).orElseThrow(() -> fields.wrong(Field.TASK,
                "expected t2va, fl2va or ref2va"))));
        fields.longer(Field.SEED).ifPresent(request::seed);
        fields.integer(Field.STEPS).ifPresent(request::steps);
        fields.integer(Field.OUTPUTS).ifPresent(request::outputs);
        fields.number(Field.FLOW_SHIFT).ifPresent(request::flowShift);
        fields.number(Field.AUDIO_FLOW_SHIFT).ifPresent(request::audioFlowShift);
        fields.text(Field.NOISE_SCHEME).ifPresent(text -> request.noiseScheme(NoiseScheme.labelled(text).orElseThrow(() -> fields.wrong(
                Field.NOISE_SCHEME, "expected " + Arrays.stream(NoiseScheme.values()).map(NoiseScheme::label).collect(Collectors.joining(" or "))))));
        fields.flag(Field.STRICT).ifPresent(request::strict);
    }

    private static OptionalInt gridPoints(CallFields fields) {
        OptionalInt points = fields.integer(Field.GRID_POINTS);
        if (points.isPresent() && fields.has(Field.STEPS)) {
            throw fields.wrong(Field.GRID_POINTS, "expected it without steps: it counts grid points, steps counts model evaluations");
        }
        return points;
    }

    private static List<MediaInput.Role> anchors(CallFields fields) {
        List<MediaInput.Role> anchors = new ArrayList<>();
        fields.value(Field.KEYFRAME_INDICES).ifPresent(value -> {
            if (!value.isArray()) {
                anchors.add(MediaParser.anchor(fields.name(Field.KEYFRAME_INDICES), value));
            }
            for (int i = 0; i < value.size(); i++) {
                anchors.add(MediaParser.anchor(fields.name(Field.KEYFRAME_INDICES) + "[" + i + "]", value.get(i)));
            }
        });
        return anchors;
    }
}

package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.pipeline.PipelineTap;

/** Keeps what a pipeline shows: all of it for the answer, and the wanted intermediates for the stages. */
final class PipelineRecorder implements PipelineTap {
    private final StageRecorder stages;
    private final Answer.Builder answer = new Answer.Builder();

    PipelineRecorder(StageRecorder stages) {
        this.stages = stages;
    }

    @Override
    public void floats(String name, float[] values, long... shape) {
        keep(name, Values.floats(values, shape));
        switch (name) {
            case "video" -> describeVideo(values, shape);
            case "audio" -> describeAudio(values, shape);
            default -> { }
        }
    }

    @Override
    public void doubles(String name, double[] values, long... shape) {
        keep(name, Values.doubles(values, shape));
    }

    @Override
    public void ints(String name, int[] values, long... shape) {
        keep(name, Values.ints(values, shape));
    }

    @Override
    public void bytes(String name, byte[] values, long... shape) {
        keep(name, Values.bytes(values, shape));
    }

    Answer answer() {
        return answer.build();
    }

    private void keep(String name, Values values) {
        answer.put(name, values);
        stages.stage(name, values);
    }

    /** (frame, row, column, RGB) in [0, 1]. */
    private void describeVideo(float[] video, long[] shape) {
        ObjectNode value = answer.value().put("video_frames", shape[0]);
        ArrayNode means = value.putArray("frame_means");
        int size = video.length / (int) shape[0];
        for (int frame = 0; frame < shape[0]; frame++) {
            double sum = 0;
            for (int i = frame * size; i < (frame + 1) * size; i++) {
                sum += video[i];
            }
            means.add(sum / size);
        }
    }

    /** A long sound is kept by its ends; their {@code select} says which samples. */
    private void describeAudio(float[] audio, long[] shape) {
        Values whole = Values.floats(audio, shape);
        answer.put("audio_head", whole).put("audio_tail", whole).value().put("audio_samples", shape[shape.length - 1]);
    }
}

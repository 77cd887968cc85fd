package io.kinema.engine.forecast;

import io.kinema.engine.Stage;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.UsefulWork;

/**
 * How much a stage has to do, in units that its time is roughly proportional to; known before a run as well as after it.
 * Denoising counts useful FLOPs, loading is always 1, what depends on whether weights lie ready counts nothing, the others count the rows that they make or read.
 */
final class StageWork {
    private StageWork() {
    }

    /** @param flops of one output's denoising */
    static double of(Stage stage, UsefulWork.Rows rows, double flops) {
        return switch (stage) {
            case CHECKING_PREPARED_WEIGHTS, REUSING_PREPARED_WEIGHTS, PREPARING_WEIGHTS -> 0;
            case LOADING -> 1;
            case TEXT_ENCODING -> rows.text();
            case CONDITION_ENCODING -> rows.video() - rows.generatedVideo() + rows.audio() - rows.generatedAudio();
            case DENOISING -> flops;
            case VIDEO_DECODING -> rows.generatedVideo();
            case AUDIO_DECODING -> rows.generatedAudio();
        };
    }

    /** Whether every output of a request runs it again. */
    static boolean perOutput(Stage stage) {
        return switch (stage) {
            case CHECKING_PREPARED_WEIGHTS, REUSING_PREPARED_WEIGHTS, PREPARING_WEIGHTS, LOADING, TEXT_ENCODING, CONDITION_ENCODING -> false;
            case DENOISING, VIDEO_DECODING, AUDIO_DECODING -> true;
        };
    }

    static double of(Stage stage, RunRecord run) {
        return of(stage, run.rows(), run.usefulFlops());
    }
}

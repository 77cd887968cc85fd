package io.kinema.engine.record;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.collective.RowReduction;
import io.kinema.model.load.StagingReport;
import io.kinema.model.work.PartWork;
import io.kinema.model.work.Work;
import java.util.List;

/** Writes what was executed, and how long it took, as JSON. */
final class WorkJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private WorkJson() {
    }

    static ArrayNode steps(List<StepRecord> steps) {
        ArrayNode array = NODES.arrayNode();
        for (StepRecord step : steps) {
            Work work = step.work();
            array.addObject().put("index", step.index()).put("sigma", step.sigma()).put("audio_sigma", step.audioSigma())
                    .put("seconds", step.seconds()).put("device_seconds", step.deviceSeconds())
                    .put("host_enqueue_seconds", step.enqueueSeconds()).put("useful_flops", work.usefulFlops())
                    .put("redundant_flops", work.redundantFlops()).put("executed_blocks", work.executedBlocks())
                    .put("sparse_blocks", work.sparse().blocks()).put("sparse_pairs", work.sparse().pairs())
                    .put("sparse_compression_flops", work.sparse().compressionFlops())
                    .put("attention_avoided_flops", work.sparse().avoidedFlops()).put("cache_hits", work.cache().hits())
                    .put("skipped_blocks", work.cache().skippedBlocks())
                    .put("replayed", step.replayed()).put("restored", step.restored());
        }
        return array;
    }

    static ArrayNode ranks(List<RankRecord> ranks) {
        ArrayNode array = NODES.arrayNode();
        for (RankRecord rank : ranks) {
            Work work = rank.work();
            ObjectNode node = array.addObject().put("rank", rank.rank()).put("device", rank.device());
            node.set("facts", RunRecordJson.named(rank.facts()));
            node.put("denoise_seconds", rank.denoiseSeconds()).put("useful_flops", work.usefulFlops())
                    .put("redundant_flops", work.redundantFlops()).put("executed_blocks", work.executedBlocks())
                    .put("preparation_flops", rank.preparation().usefulFlops());
            ArrayNode flops = node.putArray("step_useful_flops");
            ArrayNode seconds = node.putArray("step_device_seconds");
            rank.steps().forEach(step -> {
                flops.add(step.usefulFlops());
                seconds.add(step.deviceSeconds());
            });
            node.put("replayed_steps", rank.replayedSteps());
            node.put("peak_device_bytes", rank.peakDeviceBytes()).put("peak_communication_bytes", rank.peakCommunicationBytes());
            node.putObject("collectives").put("calls", rank.traffic().calls()).put("bytes", rank.traffic().bytes()).put("seconds", rank.traffic().seconds());
            node.set("staging", staging(rank.staging()));
            rank.rowReductions().ifPresent(report -> node.set("row_reductions", rowReductions(report)));
        }
        return array;
    }

    private static ObjectNode staging(StagingReport report) {
        return NODES.objectNode().put("resident_layers", report.residentBlocks()).put("staged_blocks", report.stagedBlocks())
                .put("staged_bytes", report.stagedBytes()).put("staging_seconds", report.stagingSeconds()).put("stall_seconds", report.stallSeconds());
    }

    private static ObjectNode rowReductions(RowReduction.Report report) {
        ObjectNode node = NODES.objectNode().put("peer_calls", report.peerCalls()).put("native_calls", report.nativeCalls())
                .put("setup_seconds", report.setupSeconds()).put("buffer_bytes", report.bufferBytes());
        report.fallback().ifPresent(reason -> node.put("native_because", reason));
        return node;
    }

    static ObjectNode total(RunRecord run) {
        ObjectNode node = NODES.objectNode().put("formula", UsefulWork.FORMULA).put("useful_flops", run.usefulFlops());
        RunRecordJson.number(node, "useful_gflops_per_second", run.usefulFlops() / run.denoiseSeconds() / 1e9);
        ObjectNode parts = node.putObject("parts");
        run.ranks().stream().map(RankRecord::work).reduce(Work.NONE, Work::plus).parts().forEach((part, done) -> parts.set(part.key(), part(done)));
        return node;
    }

    private static ObjectNode part(PartWork done) {
        return NODES.objectNode().put("products", done.products()).put("attention", done.attention()).put("adapters", done.adapters());
    }
}

// Shows a plan: what the server says a request would do.

import { bytes, duration, t } from "./i18n.js";

export function show(section, plan) {
  const { request } = plan;
  const rows = [
    [t("planCanvas"), `${request.width} × ${request.height}`],
    [t("planLength"), t("frames", request.frames, (request.frames / 24).toFixed(2))],
    [t("planSteps"), String(plan.evaluations)],
    [t("planRows"), t("planRowsValue", plan.rows.text, plan.rows.video, plan.rows.audio)],
    ...(plan.conditions?.length ? [[t("planSees"), plan.conditions.map((condition) => `${condition.labels.join(" ")} ${condition.role}`).join("; ")]] : []),
    [t("planMemory"), bytes(plan.memory.peak_bytes)],
    [t("planDevice"), `${plan.execution.device}, ${plan.execution.precision}`],
    [t("planTime"), time(plan.time)],
  ];
  section.querySelector("dl").replaceChildren(...rows.flatMap(([term, value]) => [
    Object.assign(document.createElement("dt"), { textContent: term }), Object.assign(document.createElement("dd"), { textContent: value })]));
  notes(section.querySelector(".notes"), plan.notes);
  section.hidden = false;
}

export function notes(list, lines) {
  list.replaceChildren(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
}

/** Measured times with their range, a lower bound, or that nothing is known: never a guess dressed as a number. */
function time({ total_seconds: total, certainty, stages }) {
  const known = Object.values(stages ?? {}).filter((stage) => stage.seconds != null);
  if (!known.length || total == null) return t("timeUnknown");
  if (known.length < Object.keys(stages).length || certainty === "probed") return t("timeLower", duration(known.reduce((sum, stage) => sum + stage.seconds, 0)));
  const sum = (name) => duration(known.reduce((all, stage) => all + (stage[name] ?? stage.seconds), 0));
  return t("timeMeasured", duration(total), sum("low"), sum("high"));
}

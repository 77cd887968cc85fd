// The list of clips: each follows its events while it is made, and shows its results when it is done.

import { blobUrl, call, finished, follow, get } from "./api.js";
import { duration, known, t, translate } from "./i18n.js";
import { notes } from "./plan.js";
import * as compare from "./compare.js";

const list = document.getElementById("jobs");
const cards = new Map();
let actions = {};

export function setUp(handlers) {
  actions = handlers;
  setInterval(() => cards.forEach((card) => card.tick()), 500);
}

export async function load() {
  const { data } = await get("/v1/videos?limit=50&order=asc");
  data.forEach(add);
}

export function add(video) {
  if (!cards.has(video.id)) cards.set(video.id, new Card(video));
  cards.get(video.id).update(video);
  document.getElementById("no-jobs").hidden = cards.size > 0;
}

export function translateAll() {
  cards.forEach((card) => card.update(card.video));
}

class Card {
  constructor(video) {
    this.video = video;
    this.stop = new AbortController();
    this.urls = new Map();
    this.element = document.getElementById("job-template").content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.element.querySelector(selector);
    this.element.id = video.id;
    list.prepend(this.element);
    this.find(".record").addEventListener("toggle", () => this.record());
    if (!finished(video)) follow(video.id, (now) => (now ? this.update(now) : this.gone()), this.stop.signal);
  }

  update(video) {
    const before = this.video;
    this.video = video;
    translate(this.element);
    this.find("h3").textContent = video.prompt;
    const badge = this.find(".badge");
    badge.textContent = video.cancelling && !finished(video) ? t("cancelling") : t(video.status);
    badge.className = `badge ${video.status}`;
    const asked = video.request ?? {};
    this.find(".facts").textContent = [asked.task, video.size.replace("x", " × "), asked.frames && t("frames", asked.frames, Number(video.seconds).toFixed(2))].filter(Boolean).join(" · ");
    notes(this.find(".notes"), video.notes ?? []);
    this.find(".error").hidden = !video.error || video.status === "cancelled";
    this.find(".error").textContent = video.error?.message ?? "";
    this.running(video, before);
    this.times(video);
    this.buttons(video);
    this.find(".record").hidden = video.status !== "completed";
    if (video.status === "completed") this.results(video);
    if (before.status !== video.status) announce(t("announced", video.prompt.slice(0, 60), t(video.status)));
  }

  running(video, before) {
    this.find(".running").hidden = finished(video);
    if (finished(video)) return;
    this.find(".stage strong").textContent = stageName(video);
    const steps = video.denoise_progress;
    this.find(".steps").hidden = !steps;
    if (!steps) return;
    this.find(".steps span").textContent = t("stepCount", steps.completed, steps.total) + (steps.resumed_at ? ` (${t("resumedAt", steps.resumed_at)})` : "");
    Object.assign(this.find("progress"), { max: steps.total, value: steps.completed });
    if (steps.completed && steps.completed !== before.denoise_progress?.completed) this.preview();
  }

  async preview() {
    const image = this.find(".preview");
    try {
      const url = await blobUrl(`/v1/videos/${this.video.id}/preview`, { signal: this.stop.signal });
      if (image.src) URL.revokeObjectURL(image.src);
      Object.assign(image, { src: url, alt: t("preview"), title: t("preview"), hidden: false });
    } catch {
      // There is none yet, or the clip is finished: the picture before stays.
    }
  }

  /** The clock of the stage alone: when a stage ends is not known before it does. */
  tick() {
    if (finished(this.video) || !this.video.stage_started_at) return;
    this.find(".clock").textContent = duration(Math.max(0, Date.now() / 1000 - this.video.stage_started_at));
  }

  times(video) {
    const parts = [];
    if (video.started_at) parts.push(t("preparation", duration(Math.max(0, video.started_at - video.created_at))));
    if (video.started_at && video.completed_at) parts.push(t("generation", duration(video.completed_at - video.started_at)));
    if (video.completed_at) parts.push(t("made", new Date(video.completed_at * 1000).toLocaleTimeString()));
    this.find(".times").textContent = parts.join(" · ");
  }

  buttons(video) {
    const button = (words, action, className = "quiet") => {
      const made = Object.assign(document.createElement("button"), { type: "button", className, textContent: t(words) });
      made.addEventListener("click", () => action().catch((problem) => this.trouble(problem)));
      return made;
    };
    const made = [];
    if (!finished(video)) made.push(button("cancel", async () => this.update(await (await call(`/v1/videos/${video.id}/cancel`, { method: "POST" })).json())));
    if (video.status === "completed") {
      made.push(button("download", () => this.download(), ""));
      made.push(button("compare", async () => compare.choose(video)));
    }
    made.push(button("remix", async () => actions.reuse(video)));
    if (finished(video)) made.push(button("remove2", () => this.remove()));
    this.find(".actions").replaceChildren(...made);
  }

  async results(video) {
    const place = this.find(".outputs");
    for (const output of video.outputs.slice(place.children.length)) {
      const figure = document.createElement("div");
      const player = Object.assign(document.createElement("video"), { controls: true, loop: true, playsInline: true, preload: "metadata" });
      player.setAttribute("aria-label", t("clipNumber", output.index + 1, output.seed));
      figure.append(player);
      place.append(figure);
      player.src = await this.url(output.url);
    }
  }

  async url(path) {
    if (!this.urls.has(path)) this.urls.set(path, await blobUrl(path));
    return this.urls.get(path);
  }

  async download() {
    for (const output of this.video.outputs) {
      const link = Object.assign(document.createElement("a"), { href: await this.url(output.url), download: `${this.video.id}${this.video.outputs.length > 1 ? `-${output.index + 1}` : ""}.mp4` });
      link.click();
    }
  }

  async record() {
    const text = this.find("pre");
    if (!this.find(".record").open || text.textContent) return;
    const record = this.video.outputs[0]?.record_url;
    text.textContent = record ? JSON.stringify(await get(record), null, 2) : "";
  }

  async remove() {
    if (!confirm(t("confirmDelete"))) return;
    await call(`/v1/videos/${this.video.id}`, { method: "DELETE" });
    this.gone();
  }

  trouble(problem) {
    Object.assign(this.find(".error"), { hidden: false, textContent: problem.message || t("offline") });
  }

  gone() {
    this.stop.abort();
    this.urls.forEach((url) => URL.revokeObjectURL(url));
    this.element.remove();
    cards.delete(this.video.id);
    document.getElementById("no-jobs").hidden = cards.size > 0;
  }
}

function stageName(video) {
  if (video.status === "queued") return t("stageQueued");
  const key = `stage_${video.stage}`;
  return known(key) ? t(key) : video.stage.replaceAll("_", " ");
}

function announce(text) {
  document.getElementById("announcer").textContent = text;
}

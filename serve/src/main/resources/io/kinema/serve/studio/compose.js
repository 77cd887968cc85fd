// The form: what is asked for, in the API's own fields.

import { t } from "./i18n.js";

const $ = (id) => document.getElementById(id);
const TASKS = ["t2va", "fl2va", "ref2va"];
const DRAFT = { size: "256x256", frames: 22, steps: 8 };

let task = "t2va";
let capabilities = null;
let references = [];
const frames = { first_image: null, last_image: null };

export function setUp(offered, onChange) {
  capabilities = offered;
  tabs(onChange);
  frameSlots();
  referenceList();
  shotHelper();
  fill();
  for (const input of document.querySelectorAll("#compose input, #compose select, #compose textarea")) input.addEventListener("input", onChange);
}

/** Choices whose words depend on the language or on what the server offers. */
export function fill() {
  for (const id of TASKS) $(`tab-${id}`).hidden = !capabilities.tasks.includes(id);
  options($("shape"), [["", t("shapeOwn")], ...["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"].map((ratio) => [ratio, ratio]), [DRAFT.size, DRAFT.size]]);
  const { frames_step: step, frames_offset: offset, frames_per_second: fps, default_frames: own, most_seconds: most } = capabilities.length;
  const lengths = [];
  for (let count = step + offset; count / fps <= most + 1e-9; count += step) lengths.push([String(count), t("seconds", (count / fps).toFixed(1), count)]);
  options($("length"), lengths, String(own));
  $("steps").max = capabilities.sampling.most_steps;
  $("steps").placeholder = capabilities.sampling.default_steps;
  $("outputs").max = capabilities.most_outputs;
  $("adapter-label").hidden = capabilities.adapters.length === 0;
  options($("adapter"), [["", t("adapterNone")], ...capabilities.adapters.map((adapter) => [adapter.name, adapter.name])]);
  presets();
  showReferences();
}

function options(select, values, selected = "") {
  const kept = select.options.length ? select.value : selected;
  select.replaceChildren(...values.map(([value, label]) => new Option(label, value, false, value === kept)));
}

function tabs(onChange) {
  const buttons = TASKS.map((id) => $(`tab-${id}`));
  const select = (index) => {
    task = TASKS[index];
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    $("task-panel").setAttribute("aria-labelledby", buttons[index].id);
    $("frames").hidden = task !== "fl2va";
    $("references").hidden = task !== "ref2va";
    onChange();
  };
  buttons.forEach((button, index) => {
    button.addEventListener("click", () => select(index));
    button.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      let next = index;
      do next = (next + move + buttons.length) % buttons.length; while (buttons[next].hidden);
      select(next);
      buttons[next].focus();
    });
  });
}

function frameSlots() {
  for (const slot of document.querySelectorAll(".slot")) {
    const [input, image, remove] = [slot.querySelector("input"), slot.querySelector("img"), slot.querySelector("button")];
    const show = (file) => {
      if (image.src) URL.revokeObjectURL(image.src);
      frames[slot.dataset.slot] = file;
      image.hidden = remove.hidden = !file;
      if (file) image.src = URL.createObjectURL(file);
      else image.removeAttribute("src");
    };
    input.addEventListener("change", () => show(input.files[0] ?? null));
    remove.addEventListener("click", () => { input.value = ""; show(null); input.focus(); });
  }
}

function referenceList() {
  const accept = { image: "image/*", "video-only": "video/*", "video+sound": "video/*", audio: "audio/*" };
  const kind = $("reference-kind");
  const file = $("reference-file");
  const match = () => { file.accept = accept[kind.value]; };
  kind.addEventListener("change", match);
  match();
  file.addEventListener("change", () => {
    if (file.files[0]) references.push({ type: kind.value, file: file.files[0] });
    file.value = "";
    showReferences();
  });
}

/** The labels of the model's presentation: ordinals count each kind for itself; a soundtrack stands before its video. */
function labels() {
  const counts = {};
  const next = (name) => `${name} ${(counts[name] = (counts[name] ?? 0) + 1)}`;
  return references.map(({ type }) => ({ image: () => next("Picture"), audio: () => next("Audio"), "video+sound": () => `${next("Audio")}, ${next("Video")}`, "video-only": () => next("Video") })[type]());
}

function showReferences() {
  const names = labels();
  $("reference-list").replaceChildren(...references.map((reference, index) => {
    const row = document.createElement("div");
    const label = Object.assign(document.createElement("code"), { textContent: names[index] });
    const name = Object.assign(document.createElement("span"), { className: "name", textContent: reference.file.name });
    const button = (text, words, action) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, className: "quiet" });
      made.setAttribute("aria-label", t(words, reference.file.name));
      made.addEventListener("click", () => { action(); showReferences(); });
      return made;
    };
    const swap = (a, b) => { if (references[b]) [references[a], references[b]] = [references[b], references[a]]; };
    row.append(label, name, button("↑", "up", () => swap(index, index - 1)), button("↓", "down", () => swap(index, index + 1)), button("✕", "removeNamed", () => references.splice(index, 1)));
    const item = document.createElement("li");
    item.append(row);
    return item;
  }));
}

function shotHelper() {
  $("shot-apply").addEventListener("click", () => {
    const part = Object.fromEntries([...document.querySelectorAll("[data-shot]")].map((field) => [field.dataset.shot, field.value.trim()]));
    const picture = [[part.subject, part.action].filter(Boolean).join(" "), part.place, part.camera].filter(Boolean).join(", ");
    const text = [picture && `${picture}.`, part.sound && t("soundIs", part.sound), part.speech && t("speechIs", part.speech)].filter(Boolean).join(" ");
    if (text) $("prompt").value = text;
    $("prompt").focus();
  });
}

function presets() {
  const chosen = document.querySelector("#presets :checked")?.value ?? "model";
  const all = [["model", t("presetModel")], ["draft", t("presetDraft")], ...capabilities.adapters.map((adapter) => [`adapter:${adapter.name}`, t("presetAdapter", adapter.name)])];
  $("presets").replaceChildren(...all.map(([value, words]) => {
    const label = document.createElement("label");
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "preset", value, checked: value === chosen });
    radio.addEventListener("change", () => apply(value));
    label.append(radio, words);
    return label;
  }));
  contract(chosen);
}

function apply(preset) {
  const draft = preset === "draft";
  $("shape").value = draft ? DRAFT.size : "";
  $("length").value = String(draft ? DRAFT.frames : capabilities.length.default_frames);
  $("steps").value = draft ? DRAFT.steps : "";
  $("adapter").value = preset.startsWith("adapter:") ? preset.slice(8) : "";
  contract(preset);
}

function contract(preset) {
  const { sampling, length } = capabilities;
  $("preset-contract").textContent = preset === "draft" ? t("contractDraft", DRAFT.steps, DRAFT.frames)
    : preset.startsWith("adapter:") ? t("contractAdapter", preset.slice(8)) : t("contractModel", sampling.default_steps, length.default_frames);
}

/** A file in the body's own text, which keeps the order and the kind of references that a list of uploads would lose. */
const dataUrl = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result);
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});

/** The request as fields and files of the API. */
export async function request() {
  const fields = { prompt: $("prompt").value.trim(), task };
  const files = [];
  const shape = $("shape").value;
  if (shape) fields[shape.includes("x") ? "size" : "aspect_ratio"] = shape;
  if ($("length").value) fields.frames = Number($("length").value);
  for (const name of ["steps", "seed", "outputs"]) if ($(name).value !== "") fields[name] = Number($(name).value);
  if ($("adapter").value) fields.adapters = [{ name: $("adapter").value }];
  if (task === "fl2va") for (const [name, file] of Object.entries(frames)) if (file) files.push({ name, file });
  if (task === "ref2va") {
    fields.references = await Promise.all(references.map(async ({ type, file }) => ({ type, url: await dataUrl(file) })));
  }
  return { fields, files };
}

/** Fills the form with an earlier request's words and numbers; its files are not here any more. */
export function reuse(video) {
  $("prompt").value = video.prompt;
  const asked = video.request ?? {};
  if (asked.steps) $("steps").value = asked.steps;
  if (asked.seed !== undefined) $("seed").value = asked.seed;
  if (asked.frames) $("length").value = String(asked.frames);
  $("prompt").focus();
}

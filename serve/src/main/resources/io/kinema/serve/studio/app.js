// Puts the page together: what the server offers, the form, the list.

import { call, get, send, useToken } from "./api.js";
import * as compare from "./compare.js";
import * as compose from "./compose.js";
import * as i18n from "./i18n.js";
import * as jobs from "./jobs.js";
import * as plan from "./plan.js";

const $ = (id) => document.getElementById(id);
const { t } = i18n;

function preferences() {
  const theme = localStorage.getItem("kinema-theme") || "auto";
  const paint = (value) => { document.documentElement.dataset.theme = value; };
  paint(theme);
  $("theme").value = theme;
  $("theme").addEventListener("change", (event) => { localStorage.setItem("kinema-theme", event.target.value); paint(event.target.value); });
  $("language").value = i18n.current();
  $("language").addEventListener("change", (event) => {
    i18n.choose(event.target.value);
    i18n.translate();
    compose.fill();
    jobs.translateAll();
    watchHealth();
  });
}

async function watchHealth() {
  const state = $("server-state");
  try {
    await call("/health/ready");
    Object.assign(state, { textContent: t("ready"), className: "state ready" });
  } catch (problem) {
    Object.assign(state, { textContent: problem.status ? problem.message : t("away"), className: "state away" });
  }
}

function refuse(problem) {
  document.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
  const names = { size: "shape", aspect_ratio: "shape", width: "shape", height: "shape", frames: "length", seconds: "length", num_inference_steps: "steps", adapters: "adapter" };
  const field = $(names[problem.field] ?? problem.field);
  const place = problem.field === "prompt" ? $("prompt-error") : $("form-error");
  $("prompt-error").hidden = $("form-error").hidden = true;
  Object.assign(place, { textContent: problem.message || t("offline"), hidden: false });
  if (field instanceof HTMLElement && field.closest("#compose")) {
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

/** Runs one of the form's two actions; false when the prompt is empty. */
async function act(button, words, dryRun, done) {
  const { fields, files } = await compose.request();
  if (!fields.prompt) return refuse({ field: "prompt", message: t("promptMissing") });
  $("prompt-error").hidden = $("form-error").hidden = true;
  document.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
  const own = button.dataset.i18n;
  button.disabled = true;
  button.textContent = t(words);
  try {
    done(await send(dryRun ? { ...fields, dry_run: true } : fields, files));
  } catch (problem) {
    refuse(problem);
  } finally {
    button.disabled = false;
    button.textContent = t(own);
  }
}

async function start() {
  const capabilities = await get("/v1/capabilities");
  $("token-form").hidden = true;
  $("model-name").textContent = capabilities.model;
  compose.setUp(capabilities, () => { $("plan").hidden = true; });
  jobs.setUp({ reuse: compose.reuse });
  compare.setUp();
  $("plan-button").addEventListener("click", () => act($("plan-button"), "planning", true, (made) => plan.show($("plan"), { ...made.plan, notes: made.notes })));
  $("compose").addEventListener("submit", (event) => {
    event.preventDefault();
    act($("submit-button"), "sending", false, (video) => { jobs.add(video); $("plan").hidden = true; });
  });
  await jobs.load();
}

i18n.translate();
preferences();
watchHealth();
setInterval(watchHealth, 10000);
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken($("token").value);
  begin();
});

async function begin() {
  try {
    await start();
  } catch (problem) {
    if (problem.status === 401) {
      $("token-form").hidden = false;
      $("token").focus();
    } else {
      refuse(problem);
    }
  }
}

begin();

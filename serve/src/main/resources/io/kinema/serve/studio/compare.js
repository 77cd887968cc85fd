// Two clips side by side, played together.

import { blobUrl } from "./api.js";
import { t } from "./i18n.js";

const section = document.getElementById("compare");
const pair = section.querySelector(".pair");
let chosen = [];

export function setUp() {
  document.getElementById("compare-close").addEventListener("click", () => { chosen = []; draw(); });
  document.getElementById("compare-play").addEventListener("click", () => {
    const players = [...pair.querySelectorAll("video")];
    players.forEach((player) => { player.currentTime = 0; });
    players.forEach((player, index) => { player.muted = index > 0; player.play(); });
  });
}

export function choose(video) {
  chosen = [...chosen.filter((other) => other.id !== video.id), video].slice(-2);
  draw();
  section.scrollIntoView({ block: "nearest" });
}

async function draw() {
  pair.querySelectorAll("video").forEach((player) => URL.revokeObjectURL(player.src));
  section.hidden = chosen.length === 0;
  document.getElementById("compare-play").hidden = chosen.length < 2;
  pair.replaceChildren(...chosen.map((video) => {
    const figure = document.createElement("figure");
    const player = Object.assign(document.createElement("video"), { controls: true, loop: true, playsInline: true });
    const asked = video.request ?? {};
    const caption = `${video.prompt} · ${video.size} · seed ${asked.seed} · ${asked.steps} steps`;
    player.setAttribute("aria-label", caption);
    figure.append(player, Object.assign(document.createElement("figcaption"), { textContent: caption }));
    blobUrl(video.outputs[0].url).then((url) => { player.src = url; });
    return figure;
  }), ...(chosen.length === 1 ? [Object.assign(document.createElement("p"), { className: "hint", textContent: t("compareOther") })] : []));
}

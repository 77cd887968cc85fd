// Uses Studio as a person does and says what was seen, as JSON. Arguments: address, a picture, a folder for files.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, picture, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// On a machine that has much else to do, anything may take minutes; nothing here depends on how long.
const long = { timeout: 480000 };
const browser = await chromium.launch({
  ...long,
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--autoplay-policy=no-user-gesture-required"],
});
const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, acceptDownloads: true, colorScheme: "light", locale: "en-GB" });
context.setDefaultTimeout(long.timeout);
const page = await context.newPage();
const saw = { errors: [], stages: [], steps: [] };
page.on("pageerror", (error) => saw.errors.push(error.message));
page.on("console", (message) => { if (/Content.Security.Policy/i.test(message.text())) saw.errors.push(message.text()); });

const open = async () => {
  await page.goto(`${address}/studio/`);
  await page.waitForFunction(() => !["…", ""].includes(document.querySelector("#model-name").textContent));
};
const serious = async () => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 120)}`);
};
const shot = (name) => page.screenshot({ path: `${folder}/${name}.png` });
const settle = async (count) => {
  await page.waitForFunction((n) => document.querySelectorAll(".job .badge.completed").length === n, count, long);
  await page.waitForFunction(() => [...document.querySelectorAll(".job video")].every((player) => player.readyState >= 2), null, long);
};

await open();
saw.title = await page.title();
saw.model = await page.textContent("#model-name");
saw.axeLight = await serious();

// An empty prompt is refused at the field.
await page.click("#submit-button");
saw.emptyPrompt = await page.textContent("#prompt-error");

// The plan, then a clip, by keyboard alone.
await page.focus("#prompt");
await page.keyboard.type("A red circle bounces across a blue background");
await page.selectOption("#length", "22");
await page.fill("#steps", "4");
await page.focus("#plan-button");
await page.keyboard.press("Enter");
await page.waitForSelector("#plan:not([hidden])", long);
saw.plan = await page.$$eval("#plan dd", (values) => values.map((value) => value.textContent));
await page.keyboard.press("Tab");
saw.afterPlan = await page.evaluate(() => document.activeElement.id);
await page.evaluate(() => {
  window.seen = { stages: [], steps: [] };
  new MutationObserver(() => {
    const stage = document.querySelector(".job .stage strong")?.textContent;
    const step = document.querySelector(".job .steps span")?.textContent;
    if (stage && window.seen.stages.at(-1) !== stage) window.seen.stages.push(stage);
    if (step && window.seen.steps.at(-1) !== step) window.seen.steps.push(step);
  }).observe(document.querySelector("#jobs"), { subtree: true, childList: true, characterData: true });
});
await page.keyboard.press("Enter");
await page.waitForSelector(".job", long);
await settle(1);
Object.assign(saw, await page.evaluate(() => window.seen));
saw.percent = (await page.textContent("main")).includes("%");
saw.times = await page.textContent(".job .times");
saw.played = await page.evaluate(async () => {
  const player = document.querySelector(".job video");
  await player.play();
  while (!(player.currentTime > 0 && player.webkitAudioDecodedByteCount > 0)) await new Promise((resume) => setTimeout(resume, 50));
  player.pause();
  return { currentTime: player.currentTime, duration: player.duration, width: player.videoWidth, audioBytes: player.webkitAudioDecodedByteCount };
});
const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).first().click()]);
await download.saveAs(`${folder}/text.mp4`);
await page.click(".job .record summary");
await page.waitForFunction(() => document.querySelector(".job .record pre").textContent.length > 100, null, long);
saw.record = JSON.parse(await page.textContent(".job .record pre")).schema;
await page.click(".job .record summary");

// A first frame.
await page.focus("#tab-t2va");
await page.keyboard.press("ArrowRight");
saw.tab = await page.evaluate(() => document.activeElement.id);
await page.setInputFiles("#first-image", picture);
await page.fill("#prompt", "It turns into a star");
await page.selectOption("#shape", "256x256");
await page.click("#submit-button");
await settle(2);
saw.secondTask = await page.textContent(".job .facts");
const [second] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).first().click()]);
await second.saveAs(`${folder}/first-frame.mp4`);
await page.evaluate(() => scrollTo(0, 0));
await shot("studio-desktop");

// Side by side.
for (const index of [0, 1]) await page.getByRole("button", { name: "Compare" }).nth(index).click();
await page.waitForFunction(() => [...document.querySelectorAll(".pair video")].filter((player) => player.readyState >= 2).length === 2, null, long);
await page.click("#compare-play");
saw.compared = await (await page.waitForFunction(() => {
  const times = [...document.querySelectorAll(".pair video")].map((player) => player.currentTime);
  return times.every((time) => time > 0) && times;
})).jsonValue();
await page.$$eval(".pair video", (players) => players.forEach((player) => player.pause()));
await shot("studio-compare");

// A refusal is shown at the field.
await page.fill("#outputs", "99");
await page.click("#submit-button");
await page.waitForSelector("#form-error:not([hidden])", long);
saw.refused = { text: await page.textContent("#form-error"), field: await page.evaluate(() => document.querySelector("[aria-invalid]")?.id) };
await page.fill("#outputs", "1");

// Narrow, dark, Chinese.
await page.setViewportSize({ width: 320, height: 800 });
await page.selectOption("#theme", "dark");
await page.setViewportSize({ width: 390, height: 844 });
await page.evaluate(() => scrollTo(0, 0));
await shot("studio-mobile-dark");
await page.setViewportSize({ width: 320, height: 800 });
await page.selectOption("#language", "zh");
await page.evaluate(() => scrollTo(0, 0));
saw.narrow = await page.evaluate(() => document.documentElement.scrollWidth);
saw.lang = await page.getAttribute("html", "lang");
saw.heading = await page.textContent("#compose-title");
saw.background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
saw.axeDark = await serious();

// A deletion, confirmed.
page.on("dialog", (dialog) => dialog.accept());
await page.locator(".job").first().getByRole("button", { name: "删除" }).click();
await page.waitForFunction(() => document.querySelectorAll(".job").length === 1, null, long);
await page.reload();
await page.waitForSelector(".job", long);
saw.afterReload = { jobs: await page.locator(".job").count(), lang: await page.getAttribute("html", "lang") };
await browser.close();
console.log(JSON.stringify(saw));

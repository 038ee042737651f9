/** Opens exports with 10,000 skills and 10,000 runs in Chromium; prints the cost of filtering and scrolling them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { exportPage, readPage } from "@metier/inspector";
import { chromium } from "playwright-core";

const COUNT = 10_000;
const WORDS = [
  "deploy",
  "notes",
  "report",
  "table",
  "mail",
  "build",
  "release",
  "search",
  "photo",
  "ledger",
  "audit",
];
const FILTERS = ["rel", "report", "audit mail", "photo 12", "zzz", "b", ""];
const WHEELS = 120;

/** In the page: until the frame after the change is drawn. */
const filterBy = `(text) => new Promise((resolve) => {
  const field = document.querySelector("[data-search]");
  const start = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
})`;

const watchTasks = `() => {
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
}`;

/** @param {number} index */
const word = (index) => WORDS[index % WORDS.length];

const folder = mkdtempSync(join(tmpdir(), "metier-inspector-bench-"));
const browser = await chromium.launch({
  executablePath: process.env.METIER_CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const lists = [
    await measure("skills", "/skills", { "/v1/catalog": { data: skills(), diagnostics: [] } }),
    await measure("runs", "/runs", {
      "/v1/runs?limit=1000": { data: runs() },
      "/v1/agents?limit=100": { data: [] },
    }),
  ];
  process.stdout.write(JSON.stringify({ ...sizes(), lists }));
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

function skills() {
  return Array.from({ length: COUNT }, (_, index) => ({
    address: `user:${word(index)}-${index}`,
    name: `${word(index)}-${index}`,
    description: `Helps with ${word(index)} and ${word(index * 7 + 3)}. Use it when somebody asks for number ${index}.`,
    scope: index % 3 === 0 ? "project" : "user",
    source: "server",
    status: index % 17 === 0 ? "unavailable" : "enabled",
    ...(index % 17 === 0 && { reason: "It needs a program that is not here." }),
    trust: index % 5 === 0 ? "untrusted" : "trusted",
    trustReason: "Its folder was granted.",
    isForUsers: true,
    isForModels: index % 4 !== 0,
    listingTokens: 40 + (index % 60),
    bodyTokens: 900 + (index % 4000),
    errors: 0,
    warnings: index % 9 === 0 ? 1 : 0,
    tags: [],
  }));
}

function runs() {
  const start = Date.UTC(2026, 0, 1);
  return Array.from({ length: COUNT }, (_, index) => ({
    id: `run-${String(COUNT - index).padStart(6, "0")}`,
    status: index % 13 === 0 ? "failed" : "completed",
    skill: `${word(index)}-${index % 40}`,
    userId: `user-${index % 25}`,
    model: "anthropic/claude-sonnet-5-5",
    trust: "trusted",
    createdAt: new Date(start - index * 90_000).toISOString(),
    updatedAt: new Date(start - index * 90_000 + 4_000).toISOString(),
    activeMs: 900 + (index % 90) * 100,
    events: 12,
    usage: { inputTokens: 900, outputTokens: 120, totalTokens: 1020 },
    cost: (index % 100) / 1000,
  }));
}

/** @param {string} name @param {string} address @param {import("@metier/inspector").ExportedView["answers"]} answers */
async function measure(name, address, answers) {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, exportPage({ title: name, address, answers }));
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`file://${file}`);
  await page.getByRole("grid").waitFor();
  await page.waitForTimeout(500);
  const filterMs = [];
  for (const text of FILTERS) filterMs.push(await page.evaluate(`(${filterBy})(${JSON.stringify(text)})`));
  await page.waitForTimeout(300);
  await page.evaluate(`(${watchTasks})()`);
  const box = await page.getByRole("grid").boundingBox();
  await page.mouse.move((box?.x ?? 0) + 50, (box?.y ?? 0) + 100);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const before = await scriptTime(session);
  for (let wheel = 0; wheel < WHEELS; wheel++) {
    await page.mouse.wheel(0, 700);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
  const busyMs = (await scriptTime(session)) - before;
  const tasks = await page.evaluate("window.longTasks");
  await page.close();
  return { name, rows: COUNT, filterMs, tasks, busyMs, frames: WHEELS };
}

/** @param {import("playwright-core").CDPSession} session */
async function scriptTime(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? 0) * 1000;
}

/** What the first address loads, according to the import graph of the built page; and the total. */
function sizes() {
  const page = readPage();
  /** @param {string} path */
  const packed = (path) => gzipSync(page.find(path)?.body ?? "", { level: 9 }).length;
  const first = new Set(["index.html", "assets/main.css"]);
  const wanted = ["assets/main.js"];
  for (const path of wanted) {
    first.add(path);
    const text = String(page.find(path)?.body ?? "");
    const imports = [...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, name]) => `assets/${name}`);
    const catalog =
      path === "assets/main.js"
        ? [...text.matchAll(/import\("\.\/(catalog-[^"]+)"\)/g)].map(([, name]) => `assets/${name}`)
        : [];
    wanted.push(...[...imports, ...catalog].filter((name) => !first.has(name) && !wanted.includes(name)));
  }
  const everything = new Set(first);
  const queue = [...first];
  for (const path of queue) {
    const text = String(page.find(path)?.body ?? "");
    for (const [, name] of text.matchAll(/"\.\/([\w-]+\.js)"/g)) {
      const asset = `assets/${name}`;
      if (everything.has(asset)) continue;
      everything.add(asset);
      queue.push(asset);
    }
  }
  /** @param {Iterable<string>} paths */
  const sum = (paths) => [...paths].reduce((total, path) => total + packed(path), 0);
  return { firstLoad: sum(first), all: sum(everything) };
}

/**
 * Installing one repository with 300 skills: `metier install` compared with `skills add` and with a bare shallow
 * clone, the minimum cost of fetching. From this disk, and over HTTP on loopback.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, say } from "../scripts/setup/repository.mjs";
import { generateSkills } from "./generate-skills.mjs";
import { IS_COMPARISON, KEPT_IN, measureInTurns, outputOf } from "./measure.mjs";
import { installPeers } from "./peers.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {import("./measure.mjs").Contestant} Contestant */
/** @typedef {import("./measure.mjs").Timing} Timing */
/** @typedef {{ readonly count: number, readonly most: number, readonly seconds: number }} Size */

/** @type {Size} */
const FULL = { count: 300, most: 10, seconds: 120 };
const METIER = join(ROOT, "packages/metier/bin/metier.js");
const GIT_SERVER = join(import.meta.dirname, "programs", "git-server.mjs");
const CLONE = "`git clone --depth 1`";
const INSTALL = "`metier install`";
const PEER = "`skills add`";
const MOST_TO_PEER = 0.6;
const ABOUT =
  "Everyone starts with nothing installed, and the two installers put all skills where `claude-code` finds them. `metier install` also checks, scans and hashes every file and writes a lock; the clone does nothing but fetch.";

/**
 * @param {Size} [size]
 * @returns {string} the section for the document
 */
export function benchInstall(size = FULL) {
  const machine = machineLine();
  const { skills } = installPeers();
  const folder = realpathSync(mkdtempSync(join(KEPT_IN ?? tmpdir(), "metier-bench-install-")));
  const repository = makeRepository(folder, size.count);
  const server = startServer(folder);
  try {
    const ways = [
      { name: "from this disk", url: pathToFileURL(repository).href },
      { name: "over HTTP", url: `http://127.0.0.1:${server.port}/repository.git` },
    ];
    const parts = ways.map(({ name, url }) => ({ name, timings: measureWay(folder, url, skills, size) }));
    return [
      "## Installing skills: `npm run bench -- install`",
      machine,
      ABOUT,
      ...parts.map(({ name, timings }) => describe(`${size.count} skills ${name}`, timings)),
      table(["goal (by the fastest run)", "measured", ""], parts.map(judge)),
    ].join("\n\n");
  } finally {
    server.stop();
    if (KEPT_IN === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {number} count @returns {string} a bare repository */
function makeRepository(folder, count) {
  say(`making a repository of ${count} skills`);
  const work = join(folder, "work");
  generateSkills(join(work, "skills"), count);
  const bare = join(folder, "repository.git");
  git(work, "init", "--quiet", "--initial-branch=main");
  git(work, "add", "--all");
  git(
    work,
    "-c",
    "user.name=Bench",
    "-c",
    "user.email=bench@example.com",
    "commit",
    "--quiet",
    "-m",
    "skills",
  );
  git(folder, "clone", "--quiet", "--bare", work, bare);
  git(bare, "config", "uploadpack.allowFilter", "true");
  return bare;
}

/** @param {string} cwd @param {readonly string[]} args */
function git(cwd, ...args) {
  const { status, stderr } = spawnSync("git", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
}

/** In its own process, because this one waits for the programs it measures. @param {string} folder */
function startServer(folder) {
  const portFile = join(folder, "port");
  const child = spawn(process.execPath, [GIT_SERVER, folder, portFile], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (let waited = 0; !existsSync(portFile); waited += 20) {
    if (waited > 20_000) throw new Error("The git server does not start.");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  return { port: readFileSync(portFile, "utf8"), stop: () => child.kill() };
}

/** @param {string} folder @param {string} url @param {string} skills @param {Size} size @returns {readonly Timing[]} */
function measureWay(folder, url, skills, { count, most, seconds }) {
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  for (const path of [home, project]) mkdirSync(path, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", DISABLE_TELEMETRY: "1" };
  const surroundings = { cwd: project, env };
  const clone = join(folder, "clone");
  const setAside = collector(mkdtempSync(join(folder, "used-")));
  const node = process.execPath;
  /** @type {Contestant[]} */
  const contestants = [
    {
      name: CLONE,
      command: ["git", "clone", "--quiet", "--depth", "1", url, clone],
      before: () => setAside([clone]),
    },
    {
      name: INSTALL,
      command: [node, METIER, "install", url, "--all", "--yes", "--agent", "claude-code"],
      before: () => setAside(contentOf(home)),
    },
  ];
  const peer = {
    name: PEER,
    command: [node, skills, "add", url, "--global", "--yes", "--skill", "*", "--agent", "claude-code"],
    before: () => setAside(contentOf(home)),
  };
  if (!IS_COMPARISON) contestants.push(peer);
  for (const contestant of contestants) checkInstalled(contestant, surroundings, count);
  say(`measuring ${url}, at most ${most} rounds`);
  return measureInTurns(contestants, surroundings, { most, seconds });
}

/**
 * What the run before left is deleted at the very end: without a journal, `ext4` takes up to 30 times as long to create a file
 * right after thousands were deleted, which would be measured instead.
 *
 * @param {string} used a folder
 */
function collector(used) {
  let count = 0;
  return (/** @type {readonly string[]} */ paths) => {
    for (const path of paths) if (existsSync(path)) renameSync(path, join(used, String(++count)));
  };
}

/** Everything but the compiled code. @param {string} home */
function contentOf(home) {
  const cache = join(home, ".metier", "cache");
  const all = [home, join(home, ".metier"), cache].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [],
  );
  const spared = new Set([join(home, ".metier"), cache, join(cache, "compile")]);
  return all.filter((path) => !spared.has(path));
}

/**
 * A tool that doesn't install every skill isn't compared.
 *
 * @param {Contestant} contestant
 * @param {import("./measure.mjs").Surroundings} surroundings
 * @param {number} count
 */
function checkInstalled(contestant, surroundings, count) {
  outputOf(contestant, surroundings);
  if (contestant.name === CLONE) return;
  const place = join(surroundings.env.HOME ?? "", ".claude", "skills");
  const installed = readdirSync(place).filter((name) => existsSync(join(place, name, "SKILL.md")));
  if (installed.length !== count) {
    throw new Error(`${contestant.name} installs ${installed.length} of ${count} skills.`);
  }
}

/** @param {string} title @param {readonly Timing[]} timings */
function describe(title, timings) {
  const bare = fastest(timings, CLONE);
  const rows = timings.map(({ name, minimum, median }) => [
    name,
    minimum.toFixed(0),
    median.toFixed(0),
    `${(minimum / bare).toFixed(2)}×`,
  ]);
  return table([`${title}, ${timings[0]?.runs} runs`, "min ms", "median ms", "to the clone"], rows);
}

/** @param {{ readonly name: string, readonly timings: readonly Timing[] }} way */
function judge({ name, timings }) {
  const ratio = fastest(timings, INSTALL) / fastest(timings, PEER);
  const isMet = ratio <= MOST_TO_PEER;
  return [`${name}: at most ${MOST_TO_PEER} times ${PEER}`, `${ratio.toFixed(2)}×`, isMet ? "met" : "missed"];
}

/** @param {readonly Timing[]} timings @param {string} name */
function fastest(timings, name) {
  return timings.find((timing) => timing.name === name)?.minimum ?? Number.NaN;
}

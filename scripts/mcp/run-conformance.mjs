/** Fetches the suite, starts the server, lets the one look at the other, and says what came of each scenario. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { COMMANDS, ROOT, say } from "../setup/repository.mjs";
import { judgeResults } from "./judge-results.mjs";
import { writeProject } from "./served-project.mjs";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const VERSIONS = ["2025-11-25", "2026-07-28"];
/** How npm says that it cannot reach a registry. */
const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E404|ENOTCACHED)\b/;
const FETCH_MS = 300_000;
const SUITE_MS = 600_000;
const START_MS = 60_000;
const MARKS = { passed: "✓", failed: "✗", "not applicable": "–" };

const folder = mkdtempSync(join(tmpdir(), "metier-mcp-conformance-"));
try {
  process.exitCode = await checkServer();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function checkServer() {
  say(`fetching ${SUITE}`);
  const listed = await runSuite(["list", "--server"], FETCH_MS);
  if (listed.code !== 0) {
    const isSkipped = UNREACHABLE.test(listed.output);
    say(isSkipped ? "skipped: the suite cannot be fetched from the package registry" : listed.output);
    return isSkipped ? 0 : 1;
  }
  const extension = [...listed.output.matchAll(/- (sep-2640-\S+) \[extension\]/g)].map(
    ([, name = ""]) => name,
  );
  const server = await startServer();
  try {
    let failures = 0;
    for (const version of VERSIONS) {
      failures += await check(version, server.url, [["--suite", "all", "--spec-version", version]]);
    }
    failures += await check(
      "the Skills extension",
      server.url,
      extension.map((scenario) => ["--scenario", scenario]),
    );
    return failures === 0 && extension.length > 0 ? 0 : 1;
  } finally {
    server.process.kill("SIGTERM");
  }
}

/**
 * @param {string} title
 * @param {string} url
 * @param {readonly (readonly string[])[]} selections
 * @returns {Promise<number>} how many scenarios failed
 */
async function check(title, url, selections) {
  const results = join(folder, `results ${title}`);
  mkdirSync(results);
  for (const selection of selections) {
    // It says by its exit code that something failed; which of it counts is decided here.
    await runSuite(["server", "--url", url, "-o", results, ...selection], SUITE_MS);
  }
  const verdicts = judgeResults(results);
  process.stdout.write(`\n${title}\n`);
  for (const { scenario, verdict, lines } of verdicts) {
    const why = lines.map((line) => `\n      ${line}`).join("");
    process.stdout.write(`  ${MARKS[verdict]} ${scenario}: ${verdict}${why}\n`);
  }
  /** @param {string} verdict */
  const count = (verdict) => verdicts.filter((one) => one.verdict === verdict).length;
  process.stdout.write(
    `  ${count("passed")} passed, ${count("failed")} failed, ${count("not applicable")} not applicable\n`,
  );
  return count("failed") + (verdicts.length === 0 ? 1 : 0);
}

/** @param {readonly string[]} args @param {number} timeout @returns {Promise<{ code: number | null, output: string }>} */
function runSuite(args, timeout) {
  return new Promise((resolve) => {
    const child = spawn("npx", ["-y", "--prefer-offline", SUITE, ...args], {
      cwd: folder,
      timeout,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        // The suite needs a newer Node than npx may run on.
        PATH: [COMMANDS, process.env.PATH].join(delimiter),
        npm_config_cache: join(folder, "npm"),
        npm_config_update_notifier: "false",
        npm_config_fetch_retries: "1",
        npm_config_fetch_retry_mintimeout: "1000",
      },
    });
    let output = "";
    const hear = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** @returns {Promise<{ url: string, process: import("node:child_process").ChildProcess }>} */
function startServer() {
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(home);
  writeProject(project);
  const program = process.argv[2] ?? join(ROOT, "packages/metier/bin/metier.js");
  const args = [program, "mcp", "--http", "--json", "--home", home, "--cwd", project];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The server did not start.")), START_MS);
    let output = "";
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
      const [url] = /http:\/\/[^"]+/.exec(output) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ url, process: child });
    });
    child.on("close", () => {
      clearTimeout(timer);
      reject(new Error("The server ended before it was ready."));
    });
  });
}

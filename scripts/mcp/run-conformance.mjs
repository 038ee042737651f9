/** Fetches the suite, starts the servers, runs the suite against them, and reports each scenario. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { COMMANDS, say } from "../setup/repository.mjs";
import { judgeResults } from "./judge-results.mjs";
import { startMcp, startService } from "./start-servers.mjs";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const VERSIONS = ["2025-11-25", "2026-07-28"];
/** How npm says that it can't reach a registry. */
const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E404|ENOTCACHED)\b/;
const FETCH_MS = 300_000;
const SUITE_MS = 600_000;
const SERVERS = { "metier mcp": startMcp, "metier serve": startService };
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
    say(isSkipped ? "skipped: can't fetch the suite from the package registry" : listed.output);
    return isSkipped ? 0 : 1;
  }
  const extension = [...listed.output.matchAll(/- (sep-2640-\S+) \[extension\]/g)].map(
    ([, name = ""]) => name,
  );
  let failures = 0;
  for (const [name, startServer] of Object.entries(SERVERS)) {
    const server = await startServer(folder);
    try {
      for (const version of VERSIONS) {
        failures += await check(`${name}, ${version}`, server.url, [
          ["--suite", "all", "--spec-version", version],
        ]);
      }
      failures += await check(
        `${name}, the Skills extension`,
        server.url,
        extension.map((scenario) => ["--scenario", scenario]),
      );
    } finally {
      server.stop();
    }
  }
  return failures === 0 && extension.length > 0 ? 0 : 1;
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
    // Its exit code says that something failed; this script decides which failures count.
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

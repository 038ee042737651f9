/**
 * A program: the attempts on one backend, as the user who starts it.
 *
 *     node test/security/escapes/run-suite.ts [--backend bubblewrap] [--only word] [--promised] [--ahead] [--json]
 *
 * With `--ahead` each is made in a sandbox that was made ahead, as those of the later commands of a run are.
 * On `none` only those are tried that do no harm, to show that they would succeed without a sandbox.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { openSync } from "node:fs";
import { parseArgs } from "node:util";
import { chooseSandbox, type Sandbox, type SandboxBackend } from "@metier/sandbox";
import { withSandboxAhead } from "../../support/sandbox-ahead.ts";
import type { Attempt } from "./attempt.ts";
import { attempts } from "./attempts.ts";
import { canShow } from "./controls.ts";
import { isPromised } from "./promises.ts";
import { openSurroundings, type Surroundings } from "./surroundings.ts";
import { type Trial, tryAttempt } from "./try-attempt.ts";

export interface Report {
  readonly backend: SandboxBackend;
  readonly trials: readonly Trial[];
  /** Whether this process and what it keeps outside of the sandbox are as before. */
  readonly isUnharmed: boolean;
  /** Why nothing could be tried. */
  readonly missing?: string;
}

const AT_ONCE = 4;
/** A descriptor beyond those that a sandbox uses itself. */
const OPEN_FOLDER = 40;

async function runSuite(
  backend: SandboxBackend,
  isWanted: (attempt: Attempt) => boolean,
  isAhead: boolean,
): Promise<Report> {
  const { sandbox: found, probes } = await chooseSandbox({ backend, trust: "trusted" });
  const sandbox = found && isAhead ? withSandboxAhead(found) : found;
  if (!sandbox) {
    const missing = probes.map(({ reason }) => reason).join(" ");
    return { backend, trials: [], isUnharmed: true, missing };
  }
  const chosen = attempts.filter((attempt) => isWanted(attempt) && canTry(attempt, sandbox));
  const around = await openSurroundings();
  try {
    const together = await tryAll(
      chosen.filter((attempt) => !isAlone(attempt)),
      sandbox,
      around,
      isAhead ? 1 : AT_ONCE,
    );
    const alone = await tryAll(chosen.filter(isAlone), sandbox, around, 1);
    return { backend, trials: [...together, ...alone], isUnharmed: await around.isWhole() };
  } finally {
    around.close();
  }
}

function canTry(attempt: Attempt, { backend, runsPrograms }: Sandbox): boolean {
  if (backend === "none") return canShow(attempt);
  return runsPrograms || attempt.program.language === "bash";
}

/** Those that take all they can get; and those that have a folder changed which some backends tidy up at the end of all. */
function isAlone({ id, world }: Attempt): boolean {
  return id.startsWith("take-") || world === "writable";
}

async function tryAll(
  list: readonly Attempt[],
  sandbox: Sandbox,
  around: Surroundings,
  atOnce: number,
): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  const waiting = [...list];
  const work = async (): Promise<void> => {
    for (let attempt = waiting.shift(); attempt; attempt = waiting.shift()) {
      trials.push(await tryAttempt(attempt, sandbox, around));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return trials;
}

/** Once more as Metier may be started: with a secret and a proxy in its environment, and a folder open. */
function startAgain(): void {
  const env = {
    ...process.env,
    METIER_ESCAPE_SECRET: `secret-${randomUUID()}`,
    HTTPS_PROXY: "http://[::1]:9",
  };
  const unused = Array<"ignore">(OPEN_FOLDER - 3).fill("ignore");
  const { status } = spawnSync(process.execPath, process.argv.slice(1), {
    env,
    stdio: ["inherit", "inherit", "inherit", ...unused, openSync("/", "r")],
  });
  process.exitCode = status ?? 1;
}

function describeReport({ backend, trials, isUnharmed, missing }: Report): string {
  if (missing !== undefined) return `${backend}: ${missing}\n`;
  const rows = attempts.flatMap(({ id, tries }) => {
    const trial = trials.find((candidate) => candidate.id === id);
    return trial ? [`${trial.verdict.padEnd(10)} ${id.padEnd(34)} ${tries} (${trial.evidence})`] : [];
  });
  const counts = (["contained", "escaped", "broken"] as const).map(
    (verdict) => `${trials.filter((trial) => trial.verdict === verdict).length} ${verdict}`,
  );
  const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
  const host = isUnharmed ? "unharmed" : "HARMED";
  const untried = attempts.length - trials.length;
  return `${rows.join("\n")}\n\n${backend} as ${who}: ${counts.join(", ")}, ${untried} not tried; the host is ${host}\n`;
}

const { values } = parseArgs({
  options: {
    backend: { type: "string", default: "bubblewrap" },
    only: { type: "string", default: "" },
    promised: { type: "boolean", default: false },
    ahead: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

if (process.env.METIER_ESCAPE_SECRET === undefined) startAgain();
else {
  const backend = values.backend as SandboxBackend;
  const isWanted = (attempt: Attempt): boolean =>
    attempt.id.includes(values.only) && (!values.promised || isPromised(backend, attempt));
  const report = await runSuite(backend, isWanted, values.ahead);
  process.stdout.write(values.json ? JSON.stringify(report) : describeReport(report));
}

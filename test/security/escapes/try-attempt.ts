/** One attempt on one sandbox, and the judgement: contained, escaped, or broken, which is no proof of anything. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { CommandOutcome, Sandbox } from "@metier/sandbox";
import type { Attempt } from "./attempt.ts";
import { openStage, type Stage } from "./stage.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Trial {
  readonly id: string;
  readonly verdict: "contained" | "escaped" | "broken";
  /** How the command ended, and by what it was told. */
  readonly evidence: string;
}

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 100_000 };
const SAID = /^(ESCAPED|HELD)/m;

export async function tryAttempt(attempt: Attempt, sandbox: Sandbox, around: Surroundings): Promise<Trial> {
  const stage = await openStage(attempt, around);
  try {
    const outcome = await sandbox.run({
      argv: [...attempt.program.argv, stage.lasting],
      world: stage.world,
      env: stage.env,
      limits: { ...LIMITS, ...attempt.limits },
    });
    const success = await findEscape(attempt, stage, outcome, around.secret);
    const how = describeOutcome(outcome);
    if (success !== undefined) return { id: attempt.id, verdict: "escaped", evidence: `${success}; ${how}` };
    if (isMissing(outcome, sandbox)) {
      return { id: attempt.id, verdict: "contained", evidence: "it starts no programs" };
    }
    const isSound = SAID.test(outcome.stdout) || attempt.endings?.includes(outcome.ended);
    return { id: attempt.id, verdict: isSound ? "contained" : "broken", evidence: how };
  } finally {
    stage.close();
  }
}

async function findEscape(
  attempt: Attempt,
  stage: Stage,
  outcome: CommandOutcome,
  secret: string,
): Promise<string | undefined> {
  if (`${outcome.stdout}${outcome.stderr}`.includes(secret)) return "it printed the secret";
  if (!(await isGone(stage.lasting))) return "a process of it is left";
  const says = SAID.exec(outcome.stdout)?.[1] === "ESCAPED";
  const harm = stage.findHarm() ?? attempt.harm?.(stage, outcome);
  if (harm !== undefined) return harm;
  if (!says) return undefined;
  if (attempt.told === "program") return "it says so";
  return arrival(stage);
}

/** Looked for again and again: on a busy machine what was sent is heard late. */
async function arrival(stage: Stage): Promise<string | undefined> {
  const giveUpAt = performance.now() + ARRIVAL_MS;
  for (;;) {
    await pause(50);
    const harm = stage.findHarm();
    if (harm !== undefined || performance.now() > giveUpAt) return harm;
  }
}

/** A shell without programs contains what needs one; everywhere else a missing program is a broken attempt. */
function isMissing({ exitCode, stdout }: CommandOutcome, { runsPrograms }: Sandbox): boolean {
  return !runsPrograms && (exitCode === 127 || stdout.includes("BROKEN: a program is missing"));
}

/** What was sent may be under way still. */
const ARRIVAL_MS = 3_000;
const PATIENCE_MS = 10_000;

async function isGone(word: string): Promise<boolean> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (isRunning(word)) {
    if (performance.now() > giveUpAt) return false;
    await pause(20);
  }
  return true;
}

function isRunning(word: string): boolean {
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false; // It has ended.
    }
  });
}

function describeOutcome({ ended, exitCode, reason, stdout, stderr }: CommandOutcome): string {
  const said = [stdout, stderr].map((text) => text.trim().split("\n").at(-1) ?? "").filter(Boolean);
  return [ended, exitCode, reason, ...said]
    .filter((part) => part !== undefined)
    .join(", ")
    .slice(0, 400);
}

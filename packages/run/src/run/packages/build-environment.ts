/**
 * Installs the packages of a plan in a sandbox that sees the plan's files and reaches the registry, and nothing else.
 * Bounded in time and size; failures are values.
 */
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { digestBytes } from "@metier/base/digest";
import type { Places } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import type { CommandOutcome, Sandbox, SandboxLimits } from "@metier/sandbox";
import { type AddressBook, openEgressProxy } from "@metier/sandbox/egress";
import type { EnvironmentPlan } from "./environment-plan.ts";
import { type Installation, RESULT } from "./installation.ts";

interface BuildOrder {
  readonly plan: EnvironmentPlan;
  readonly installation: Installation;
  readonly sandbox: Sandbox;
  /** Where the packages are to be: `environmentFolder`. */
  readonly folder: string;
  readonly places: Places;
  readonly signal?: AbortSignal | undefined;
  readonly addresses?: AddressBook;
}

/** A refusal is what went wrong, in one sentence, and below it what the installer said last. */
type BuildOutcome = Result<undefined, string>;

const MINUTE = 60_000;
const TIMEOUT_MS = 5 * MINUTE;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;
const LIMITS: SandboxLimits = {
  timeoutMs: TIMEOUT_MS,
  maxOutputBytes: 65_536,
  maxWorkBytes: MAX_BYTES,
  maxFileBytes: MAX_BYTES,
};
const SAID_CHARACTERS = 2000;

export async function buildEnvironment(order: BuildOrder): Promise<BuildOutcome> {
  let building: string | undefined;
  try {
    building = makeBuildFolder(order.places);
    return await buildIn(building, order);
  } catch (fault) {
    // The disk is full, or the cache cannot be written: the skill can do without.
    return refused(`${(fault as Error).message}.`);
  } finally {
    if (building !== undefined) discard(building);
  }
}

async function buildIn(building: string, order: BuildOrder): Promise<BuildOutcome> {
  const { plan, folder } = order;
  for (const [name, content] of Object.entries(plan.files)) writeFileSync(join(building, name), content);
  const { outcome, said } = await install(order, building);
  const fault = describeFault(outcome);
  if (fault !== undefined) return refused([fault, said].filter(Boolean).join("\n"));
  const result = join(building, RESULT[plan.kind]);
  mkdirSync(result, { recursive: true, mode: 0o700 }); // Where no package is for this machine there is none.
  keepEnvironment(result, folder);
  return done(undefined);
}

async function install(
  { installation, sandbox, signal, addresses }: BuildOrder,
  folder: string,
): Promise<{ readonly outcome: CommandOutcome; readonly said: string }> {
  const world = {
    cwd: folder,
    workDir: folder,
    readable: [folder, ...installation.readable],
    writable: [folder],
    masked: [],
    protectedPaths: [],
  };
  const unreached = new Map<string, string>();
  const proxy = await openEgressProxy({
    network: installation.registry.network,
    onRefuse: (host, { reason, message }) => unreached.set(host, reason === "not-granted" ? host : message),
    addresses,
  });
  let said = "";
  const decoder = new TextDecoder();
  try {
    const outcome = await sandbox.run({
      argv: installation.command(folder),
      world,
      env: {},
      egressSocket: proxy.socketPath,
      limits: LIMITS,
      onOutput: (_stream, chunk) => {
        said = `${said}${decoder.decode(chunk, { stream: true })}`.slice(-SAID_CHARACTERS);
      },
      signal,
    });
    const lines = [
      stripVTControlCharacters(said).trim(),
      ...[...unreached.values()].map((what) => `Not reached: ${what}`),
    ];
    return { outcome, said: lines.filter(Boolean).join("\n") };
  } finally {
    await proxy.close();
  }
}

function describeFault({ ended, exitCode, reason }: CommandOutcome): string | undefined {
  if (ended === "exited") return exitCode === 0 ? undefined : `The installer ended with ${exitCode}.`;
  if (ended === "timeout") return `The installer took longer than ${TIMEOUT_MS / MINUTE} minutes.`;
  if (ended === "cancelled") return "The installation was cancelled.";
  return reason ?? "The installer was ended by a signal.";
}

/** Raise when the same lock makes another environment. */
const FORMAT = 1;
const BUILDING = "building-";
const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const BUILDING_ENDS_AFTER_MS = 2 * HOUR;
const UNUSED_AFTER_MS = 90 * DAY;

/** Where the packages of a plan are, or will be. */
export function environmentFolder(places: Places, plan: EnvironmentPlan, runtime: string): string {
  const identity = JSON.stringify([FORMAT, plan.kind, runtime, plan.files]);
  return join(cacheFolder(places), digestBytes(identity).replace(/^sha256:/, ""));
}

/** Whether the packages are there; noted as a use of them. */
export function useEnvironment(folder: string): boolean {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
    return true;
  } catch {
    return statSync(folder, { throwIfNoEntry: false }) !== undefined; // There, though not ours to touch.
  }
}

/** A new folder, by its real path, that nothing but one installation writes to. */
export function makeBuildFolder(places: Places): string {
  const cache = cacheFolder(places);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeOld(cache);
  const folder = join(realpathSync(cache), `${BUILDING}${randomBytes(8).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** A folder of that name is another installation of the same packages that was faster. */
export function keepEnvironment(built: string, folder: string): void {
  try {
    renameSync(built, folder);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw fault;
  }
}

/**
 * Where installed packages are kept: a folder for each environment, named after all that decides what is in it. A folder
 * appears there whole, by a rename: what a killed installation leaves is never used, and of several at the same time the
 * first one counts. What nobody used for long is removed.
 */
function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A later installation tries again.
  }
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > (name.startsWith(BUILDING) ? BUILDING_ENDS_AFTER_MS : UNUSED_AFTER_MS)) discard(path);
  }
}

function cacheFolder({ cache }: Places): string {
  return join(cache, "environments");
}

/**
 * Installs a plan's packages in a sandbox that only sees the plan's files and reaches the registry. Limited in time and
 * size; failures are values.
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
  /** Where the packages go: `environmentFolder`. */
  readonly folder: string;
  readonly places: Places;
  readonly signal?: AbortSignal | undefined;
  readonly addresses?: AddressBook;
}

/** The refusal says what went wrong, in one sentence, followed by the installer's last output. */
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
    // The disk is full, or the cache isn't writable: the skill can do without.
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
  mkdirSync(result, { recursive: true, mode: 0o700 }); // If no package supports this machine, there is none.
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
  if (ended === "exited") return exitCode === 0 ? undefined : `The installer exited with code ${exitCode}.`;
  if (ended === "timeout") return `The installer timed out after ${TIMEOUT_MS / MINUTE} min.`;
  if (ended === "cancelled") return "The installation was cancelled.";
  return reason ?? "The installer was killed by a signal.";
}

/** Increase when the same lock produces a different environment. */
const FORMAT = 1;
const BUILDING = "building-";
const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const BUILDING_ENDS_AFTER_MS = 2 * HOUR;
const UNUSED_AFTER_MS = 90 * DAY;

/** Where a plan's packages are, or will be. */
export function environmentFolder(places: Places, plan: EnvironmentPlan, runtime: string): string {
  const identity = JSON.stringify([FORMAT, plan.kind, runtime, plan.files]);
  return join(cacheFolder(places), digestBytes(identity).replace(/^sha256:/, ""));
}

/** Whether the packages exist; also marks them as used. */
export function useEnvironment(folder: string): boolean {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
    return true;
  } catch {
    return statSync(folder, { throwIfNoEntry: false }) !== undefined; // It exists, but we can't touch it.
  }
}

/** A new folder, by its real path, that only one installation writes to. */
export function makeBuildFolder(places: Places): string {
  const cache = cacheFolder(places);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeOld(cache);
  const folder = join(realpathSync(cache), `${BUILDING}${randomBytes(8).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** If the folder exists, another installation of the same packages was faster. */
export function keepEnvironment(built: string, folder: string): void {
  try {
    renameSync(built, folder);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw fault;
  }
}

/**
 * Where installed packages are kept: one folder per environment, named after everything that determines its content. It
 * appears complete, through a rename: leftovers of a killed installation are never used, and of several installations
 * the first wins. Long-unused folders are removed.
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

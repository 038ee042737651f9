/**
 * Installs the packages of a plan in a sandbox that sees the plan's files and reaches the registry, and nothing else.
 * Bounded in time and size; failures are values.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { openEgressProxy } from "../../egress/proxy.ts";
import type { AddressBook } from "../../egress/resolve-public.ts";
import type { Places } from "../../host/places.ts";
import type { CommandOutcome, Sandbox, SandboxLimits } from "../../sandbox/sandbox.ts";
import { discard, keepEnvironment, makeBuildFolder } from "./environment-cache.ts";
import type { EnvironmentPlan } from "./environment-plan.ts";
import { type Installation, RESULT } from "./installation.ts";

export interface BuildOrder {
  readonly plan: EnvironmentPlan;
  readonly installation: Installation;
  readonly sandbox: Sandbox;
  /** Where the packages are to be: `environmentFolder`. */
  readonly folder: string;
  readonly places: Places;
  readonly signal?: AbortSignal;
  readonly addresses?: AddressBook;
}

export type BuildOutcome =
  | { readonly ok: true }
  /** What went wrong, in one sentence, and what the installer said last. */
  | { readonly ok: false; readonly message: string; readonly said: string };

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
    return { ok: false, message: `${(fault as Error).message}.`, said: "" };
  } finally {
    if (building !== undefined) discard(building);
  }
}

async function buildIn(building: string, order: BuildOrder): Promise<BuildOutcome> {
  const { plan, folder } = order;
  for (const [name, content] of Object.entries(plan.files)) writeFileSync(join(building, name), content);
  const { outcome, said } = await install(order, building);
  const fault = describeFault(outcome);
  if (fault !== undefined) return { ok: false, message: fault, said };
  const result = join(building, RESULT[plan.kind]);
  mkdirSync(result, { recursive: true, mode: 0o700 }); // Where no package is for this machine there is none.
  keepEnvironment(result, folder);
  return { ok: true };
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
  const refused = new Map<string, string>();
  const proxy = await openEgressProxy({
    network: installation.registry.network,
    onRefuse: (host, { reason, message }) => refused.set(host, reason === "not-granted" ? host : message),
    ...(addresses && { addresses }),
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
      ...(signal && { signal }),
    });
    const lines = [
      stripVTControlCharacters(said).trim(),
      ...[...refused.values()].map((what) => `Not reached: ${what}`),
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

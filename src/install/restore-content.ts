/** Fetches again what locks record, and puts it into the store if it is, byte for byte, what they say. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import type { LockFile } from "../lock/lock-places.ts";
import { flushStore, placeInStore } from "../lock/store.ts";
import { blockingFindings } from "../scan/scan-policy.ts";
import { identifyFolder } from "../trust/content-identity.ts";
import type { LockedEntry } from "./choose-installed.ts";
import { fetchSource } from "./fetch-source.ts";
import type { InstallFault } from "./install-fault.ts";
import type { InstallParts, InstallRequest, SkillFinding, SkippedSkill } from "./install-request.ts";
import { parseLockedAddress } from "./locked-address.ts";
import type { Quarantine } from "./quarantine.ts";
import { pinAddress } from "./same-origin.ts";
import { refuseBlocked, scanFolder } from "./scan-fetched.ts";
import { SOURCE_LIMITS } from "./source-limits.ts";

export interface FetchedLocked {
  readonly failed: ReadonlyMap<LockEntry, SkippedSkill>;
  readonly findings: readonly SkillFinding[];
}

export interface RestoreContext {
  readonly request: InstallRequest;
  readonly parts: InstallParts;
  readonly quarantine: Quarantine;
}

/** All of one version of one source; at least one. */
export async function fetchLocked(
  states: readonly LockedEntry[],
  context: RestoreContext,
): Promise<FetchedLocked> {
  const failed = new Map<LockEntry, SkippedSkill>();
  const findings: SkillFinding[] = [];
  const fetched = await fetchVersion(states, context);
  for (const { entry, lockFile } of states) {
    const refused = fetched.ok
      ? ((await judge(entry, fetched.folder, context, findings)) ??
        store(entry, lockFile, fetched.folder, context))
      : failure(entry, fetched.fault);
    if (refused) failed.set(entry, refused);
  }
  if (failed.size < states.length) flushStore(context.parts.places);
  return { failed, findings };
}

/** A copy goes there: two entries may have the same folder, or one inside the other's. */
function store(
  entry: LockEntry,
  lock: LockFile,
  source: string,
  { parts, quarantine }: RestoreContext,
): SkippedSkill | undefined {
  const copy = join(quarantine.makeFolder(), "skill");
  cpSync(folderOf(entry, source), copy, { recursive: true, verbatimSymlinks: true });
  const placed = placeInStore(parts.places, copy, { name: entry.name, digest: entry.digest, lock });
  return placed.ok ? undefined : differs(entry, placed.diagnostic.message);
}

type Fetched =
  | { readonly ok: true; readonly folder: string }
  | { readonly ok: false; readonly fault: InstallFault };

async function fetchVersion(
  states: readonly LockedEntry[],
  { request, parts, quarantine }: RestoreContext,
): Promise<Fetched> {
  const [first] = states.map(({ entry }) => entry);
  const owners = states.map(({ lockFile }) => lockFile.owner);
  const parsed = parseLockedAddress(first?.source ?? "", owners, parts);
  if (!parsed.ok) return parsed;
  // Only what is needed of a large repository, if it is one thing.
  const path = states.length === 1 ? (first?.path ?? "") : "";
  const address = pinAddress(parsed.address, { resolved: first?.resolved ?? "" }, path);
  const { signal, onProgress } = request;
  const outcome = await fetchSource(address, {
    into: quarantine.makeFolder(),
    limits: SOURCE_LIMITS,
    environment: parts.environment,
    store: parts.places.base,
    wanted: states.map(({ entry }) => entry.name),
    ...(parts.registry !== undefined && { registry: parts.registry }),
    ...(parts.addresses && { addresses: parts.addresses }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  });
  return outcome.ok ? { ok: true, folder: realPathOr(outcome.source.folder) } : outcome;
}

/** Why it is not put into the store; nothing if it may. */
async function judge(
  entry: LockEntry,
  source: string,
  { parts }: RestoreContext,
  findings: SkillFinding[],
): Promise<SkippedSkill | undefined> {
  const folder = folderOf(entry, source);
  if (!isInside(folder, source)) return differs(entry, `Its path \`${entry.path}\` leads out of the source.`);
  const identified = identifyFolder(folder);
  if (!identified.ok) return differs(entry, identified.diagnostic.message);
  const { digest } = identified.identity;
  if (digest !== entry.digest)
    return differs(entry, `It has the content \`${digest}\` now, not \`${entry.digest}\`.`);
  const name = calledAs(entry);
  const report = await scanFolder(folder, name, parts.scan);
  findings.push(...report.findings.map((finding) => ({ skill: name, ...finding })));
  const blocking = blockingFindings(report.findings, parts.scan);
  return blocking.length > 0 ? refuseBlocked(name, blocking) : undefined;
}

function folderOf({ path }: LockEntry, source: string): string {
  return realPathOr(join(source, path));
}

function failure(entry: LockEntry, { code, message, hint }: InstallFault): SkippedSkill {
  return { name: calledAs(entry), code, reason: message, hint };
}

function differs(entry: LockEntry, what: string): SkippedSkill {
  const name = calledAs(entry);
  return {
    name,
    code: "install.differs",
    reason: `\`${entry.source}\` no longer gives what the lock records of \`${name}\` (${entry.resolved}). ${what}`,
    hint: `\`metier update ${name}\` takes what is there now, after you have looked at it.`,
  };
}

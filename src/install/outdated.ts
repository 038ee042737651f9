/** `outdated`: which installed skills their sources have newer versions of. Reads, asks, and changes nothing. */
import { calledAs, type LockEntry, type LockOwner } from "../lock/lock-entry.ts";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-installed.ts";
import { cancelledFault, type FaultOutcome, type InstallFaultCode } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { openQuarantine } from "./quarantine.ts";
import { lookUpstream, type Upstream } from "./update/upstream.ts";

export interface OutdatedRequest extends InstalledWish, Pick<InstallRequest, "signal" | "onProgress"> {}

/** One version of a skill. */
export interface VersionMark {
  /** Commit, version with integrity, digest of the download, or a folder. */
  readonly resolved: string;
  readonly digest: string;
  /** As its manifest says. */
  readonly version?: string;
}

export interface OutdatedSkill {
  /** What it is called here. */
  readonly name: string;
  readonly status: Upstream["status"];
  readonly lock: LockOwner;
  readonly source: string;
  readonly ref?: string;
  readonly installed: VersionMark;
  /** What the source has instead. */
  readonly available?: VersionMark;
  readonly reason: string;
  readonly hint?: string;
  /** Why it is missing or could not be asked for. */
  readonly code?: InstallFaultCode;
}

export type OutdatedOutcome = { readonly ok: true; readonly skills: readonly OutdatedSkill[] } | FaultOutcome;

export async function findOutdated(request: OutdatedRequest, parts: InstallParts): Promise<OutdatedOutcome> {
  const choice = chooseInstalled(request, parts);
  if (!choice.ok) return choice;
  const quarantine = openQuarantine(parts.places);
  try {
    const found = await lookUpstream(choice.chosen, { ...request, parts, quarantine });
    if (request.signal?.aborted) return cancelledFault();
    return {
      ok: true,
      skills: choice.chosen.flatMap((one) => {
        const upstream = found.get(one.entry);
        return upstream ? [describe(one, upstream)] : [];
      }),
    };
  } finally {
    quarantine.close();
  }
}

function describe({ entry, lockFile }: LockedEntry, upstream: Upstream): OutdatedSkill {
  const { source, ref } = entry;
  const known = {
    name: calledAs(entry),
    status: upstream.status,
    lock: lockFile.owner,
    source,
    ...(ref !== undefined && { ref }),
    installed: markOf(entry),
  };
  switch (upstream.status) {
    case "outdated":
      return { ...known, available: availableMark(upstream), ...describeNewer(entry, upstream.isMovedTag) };
    case "missing":
    case "failed": {
      const { message, hint, code } = upstream.fault;
      return { ...known, reason: message, hint, code };
    }
    default:
      return { ...known, reason: upstream.reason };
  }
}

export function markOf({ resolved, digest }: Pick<LockEntry, "resolved" | "digest">): VersionMark {
  return { resolved, digest };
}

export function availableMark({ source, skill }: Upstream & { readonly status: "outdated" }): VersionMark {
  const { digest, version } = skill;
  return { resolved: source.resolved, digest, ...(version !== undefined && { version }) };
}

function describeNewer(entry: LockEntry, isMovedTag: boolean): Pick<OutdatedSkill, "reason" | "hint"> {
  const hint = `\`metier update ${calledAs(entry)}\` shows what changed, and takes it.`;
  if (!isMovedTag) return { reason: "The source has another version.", hint };
  return {
    reason: `The tag \`${entry.ref}\` stands for another commit than before; tags should not move.`,
    hint,
  };
}

/**
 * `outdated`: which installed skills have newer versions in their sources, and what those are. Asks sources as cheaply
 * as possible: a pinned version needs no network, a repository's references show whether anything moved, and only then
 * is it fetched. A failing source does not stop the others, and nothing is changed.
 */
import { done, type Result } from "@metier/base/result";
import { mapBounded } from "@metier/base/turns";
import { calledAs, type LockEntry, type LockOwner } from "@metier/skills/trust";
import { parseLockedAddress, type SourceAddress } from "./addresses/source-address.ts";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-skills.ts";
import {
  type FetchedSource,
  type Fetching,
  fetchContext,
  openSource,
  withQuarantine,
} from "./fetch-source.ts";
import type { SourceSkill } from "./find-source-skills.ts";
import {
  cancelledFault,
  type FaultOutcome,
  type InstallFault,
  type InstallFaultCode,
} from "./install-fault.ts";
import { isValid, refuseInvalid, type ValidSkill } from "./plan-skill.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";

/** Which installed skills to compare with their sources. */
export interface OutdatedRequest extends InstalledWish, Pick<InstallRequest, "signal" | "onProgress"> {}

/** One version of a skill. */
export interface VersionMark {
  /** Commit, version with integrity, digest of the download, or a folder. */
  readonly resolved: string;
  /** Content identity of the skill, `sha256:…`. */
  readonly digest: string;
  /** From its manifest. */
  readonly version?: string | undefined;
}

/** An installed skill, compared with its source's current version. */
export interface OutdatedSkill {
  /** Its name here. */
  readonly name: string;
  /** `outdated`: the source has another version. `missing`: it is gone there. `failed`: it could not be asked. */
  readonly status: Upstream["status"];
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** The address it was installed from. */
  readonly source: string;
  /** Requested branch, tag, commit or version. Absent: the source's default. */
  readonly ref?: string | undefined;
  /** The version in the lock. */
  readonly installed: VersionMark;
  /** The source's version. Only with `outdated`. */
  readonly available?: VersionMark;
  /** Why it has this status, in one or more sentences. */
  readonly reason: string;
  /** What to do. Absent: nothing. */
  readonly hint?: string;
  /** Why it is missing or could not be asked for. Only with `missing` and `failed`. */
  readonly code?: InstallFaultCode;
}

/** One entry per requested skill, or why none could be compared. */
export type OutdatedOutcome = { readonly ok: true; readonly skills: readonly OutdatedSkill[] } | FaultOutcome;

export async function findOutdated(request: OutdatedRequest, parts: InstallParts): Promise<OutdatedOutcome> {
  const choice = chooseInstalled(request, parts);
  if (!choice.ok) return { ok: false, fault: choice.refusal };
  const found = await withQuarantine(parts.places, (quarantine) =>
    lookUpstream(choice.value, { ...request, parts, quarantine }),
  );
  if (request.signal?.aborted) return { ok: false, fault: cancelledFault().refusal };
  const skills = choice.value.flatMap((one) => {
    const upstream = found.get(one.entry);
    return upstream ? [describeSkill(one, upstream)] : [];
  });
  return { ok: true, skills };
}

function describeSkill({ entry, lockFile }: LockedEntry, upstream: Upstream): OutdatedSkill {
  const { source, ref } = entry;
  const [name, installed] = [calledAs(entry), versionMark(entry)];
  const known = { name, status: upstream.status, lock: lockFile.owner, source, ref, installed };
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

export function versionMark({ resolved, digest }: Pick<LockEntry, "resolved" | "digest">): VersionMark {
  return { resolved, digest };
}

export function availableMark({ source, skill }: Upstream & { readonly status: "outdated" }): VersionMark {
  const { digest, version } = skill;
  return { resolved: source.resolved, digest, version };
}

function describeNewer(entry: LockEntry, isMovedTag: boolean): Pick<OutdatedSkill, "reason" | "hint"> {
  const reason = isMovedTag
    ? `The tag \`${entry.ref}\` now points to another commit; tags should not move.`
    : "The source has another version.";
  return { reason, hint: `See the changes and install them with \`metier update ${calledAs(entry)}\`.` };
}

/** The current version in an installed skill's source. */
export type Upstream =
  /** `pinned`: it was requested by a version that does not move. `local`: a folder used in place. */
  | { readonly status: "current" | "pinned" | "local"; readonly reason: string }
  | {
      readonly status: "outdated";
      readonly source: FetchedSource;
      readonly skill: ValidSkill;
      /** A tag that had other content before. */
      readonly isMovedTag: boolean;
    }
  /** `missing`: the source, the reference or the skill in it no longer exists. */
  | { readonly status: "missing" | "failed"; readonly fault: InstallFault };

/** Sources asked at the same time. */
const MOST_AT_ONCE = 4;

export async function lookUpstream(
  entries: readonly LockedEntry[],
  context: Fetching,
): Promise<ReadonlyMap<LockEntry, Upstream>> {
  const found = new Map<LockEntry, Upstream>();
  const open: LockedEntry[] = [];
  for (const one of entries) {
    const settled = settleAlone(one.entry);
    if (settled) found.set(one.entry, settled);
    else open.push(one);
  }
  const sources = [...Map.groupBy(open, ({ entry }) => entry.source)];
  let asked = 0;
  const tell = (): void =>
    context.onProgress?.({ what: "Checking sources", done: asked, total: sources.length });
  tell();
  await mapBounded(sources, MOST_AT_ONCE, async ([source, group]) => {
    for (const [entry, upstream] of await lookAtSource(source, group, context)) found.set(entry, upstream);
    asked += 1;
    tell();
  });
  return found;
}

/** What can be answered without asking. */
function settleAlone(entry: LockEntry): Upstream | undefined {
  if (entry.linked) {
    return { status: "local", reason: `It is the folder \`${entry.resolved}\`, used in place.` };
  }
  const { kind, ref, resolved } = entry;
  const isCommit =
    kind === "git" && ref !== undefined && /^[0-9a-f]{7,}$/.test(ref) && resolved.startsWith(ref);
  const isVersion = kind === "npm" && ref !== undefined && resolved.split(" ")[0] === ref;
  if (!isCommit && !isVersion) return undefined;
  return pinnedTo(isCommit ? "commit" : "version", ref);
}

function pinnedTo(what: "commit" | "version" | "tag", ref: string | undefined): Upstream {
  const reason = `It is pinned to the ${what} \`${ref}\`; install it again with another \`--ref\`.`;
  return { status: "pinned", reason };
}

type Looked = readonly (readonly [LockEntry, Upstream])[];

async function lookAtSource(
  source: string,
  locked: readonly LockedEntry[],
  context: Fetching,
): Promise<Looked> {
  const group = locked.map(({ entry }) => entry);
  const owners = locked.map(({ lockFile }) => lockFile.owner);
  const parsed = parseLockedAddress(source, owners, context.parts);
  if (!parsed.ok) return failAll(group, parsed.refusal);
  const resolved = await resolveNow(parsed.value, context);
  if (!resolved.ok) return failAll(group, resolved.refusal);
  const isSame = (entry: LockEntry): boolean => entry.resolved === resolved.value.now;
  const same = group.filter(isSame).map((entry) => [entry, describeSame(entry, resolved.value)] as const);
  const moved = group.filter((entry) => !isSame(entry));
  if (moved.length === 0) return same;
  const { parts, quarantine, signal } = context;
  const skills = moved.map(({ name }) => name);
  const opened = await openSource(parsed.value, { parts, quarantine, signal }, { skills });
  if (!opened.ok) return [...same, ...failAll(moved, opened.refusal)];
  const isMovedTag = resolved.value.isTag === true;
  const compared = moved.map((entry) => {
    return [entry, compare(entry, opened.value.skills, opened.value.source, isMovedTag)] as const;
  });
  return [...same, ...compared];
}

interface ResolvedNow {
  readonly now?: string;
  readonly isTag?: boolean;
}

/** Without `now`, only the content can tell. */
async function resolveNow(
  address: SourceAddress,
  { parts, quarantine, signal }: Fetching,
): Promise<Result<ResolvedNow, InstallFault>> {
  if (address.kind === "git") {
    const { resolveGit } = await import("./git/fetch-git.ts");
    const outcome = await resolveGit(address, fetchContext({ parts, quarantine, signal }));
    if (!outcome.ok) return outcome;
    const { commit, listed } = outcome.value;
    return done({ now: commit, isTag: listed?.startsWith("refs/tags/") ?? false });
  }
  if (address.kind !== "npm") return done({});
  const { resolveNpm } = await import("./npm/fetch-npm.ts");
  const outcome = await resolveNpm(address, fetchContext({ parts, quarantine, signal }));
  return outcome.ok ? done({ now: outcome.value }) : outcome;
}

const NOTHING_NEWER = "The source has nothing newer.";

function describeSame({ ref }: LockEntry, { isTag }: ResolvedNow): Upstream {
  return isTag ? pinnedTo("tag", ref) : { status: "current", reason: NOTHING_NEWER };
}

function compare(
  entry: LockEntry,
  skills: readonly SourceSkill[],
  source: FetchedSource,
  isMovedTag: boolean,
): Upstream {
  const skill = skills.find(({ path }) => path === entry.path);
  if (skill !== undefined && !isValid(skill)) return describeInvalid(skill, entry);
  if (skill === undefined || skill.name !== entry.name) return describeGone(entry, skill, skills);
  if (skill.digest === entry.digest) {
    const isMoved = entry.kind !== "folder" && source.resolved !== entry.resolved;
    const reason = isMoved ? "The source changed, but this skill is the same." : NOTHING_NEWER;
    return { status: "current", reason };
  }
  return { status: "outdated", source, skill, isMovedTag };
}

function describeInvalid(skill: SourceSkill, { name }: LockEntry): Upstream {
  const { reason, hint = "" } = refuseInvalid(skill, name);
  const message = `Its new version is not valid. ${reason}`;
  return { status: "failed", fault: { code: "install.invalid", message, hint } };
}

function describeGone(
  { name, path }: LockEntry,
  there: SourceSkill | undefined,
  skills: readonly SourceSkill[],
): Upstream {
  const elsewhere = skills.find((skill) => skill.name === name);
  const place = path === "" ? "its root" : `\`${path}\``;
  const what = there
    ? `The source now has another skill at ${place}: \`${there.name}\`.`
    : `The source no longer has it at ${place}.`;
  const hint = elsewhere
    ? `It has a skill with that name at \`${elsewhere.path}\`; install that with \`metier install\` and \`--force\`.`
    : "The installed skill stays as it is; remove it with `metier remove`.";
  return { status: "missing", fault: { code: "source.not_found", message: what, hint } };
}

const MISSING: readonly InstallFaultCode[] = ["source.not_found", "source.ref_not_found", "install.no_skill"];

function failAll(group: readonly LockEntry[], fault: InstallFault): Looked {
  const status = MISSING.includes(fault.code) ? "missing" : "failed";
  return group.map((entry) => [entry, { status, fault }] as const);
}

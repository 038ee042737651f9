/**
 * What the sources of installed skills have now. Asked as cheaply as each kind allows: a pinned version needs no network,
 * a repository says by its references whether anything moved, and only then is it fetched. One that fails stops no other.
 */
import { mapBounded } from "../../foundation/map-bounded.ts";
import type { LockEntry } from "../../lock/lock-entry.ts";
import type { LockedEntry } from "../choose-installed.ts";
import type { FetchContext, FetchedSource } from "../fetch-source.ts";
import type { SourceSkill } from "../find-source-skills.ts";
import type { FaultOutcome, InstallFault, InstallFaultCode } from "../install-fault.ts";
import type { InstallParts, InstallRequest } from "../install-request.ts";
import { parseLockedAddress } from "../locked-address.ts";
import { openSource } from "../open-source.ts";
import { isValid, refuseInvalid, type ValidSkill } from "../plan-skill.ts";
import type { Quarantine } from "../quarantine.ts";
import type { SourceAddress } from "../source-address.ts";
import { SOURCE_LIMITS } from "../source-limits.ts";

export type Upstream =
  /** `pinned`: it was asked for by a version that does not move. `local`: a folder that is used in place. */
  | { readonly status: "current" | "pinned" | "local"; readonly reason: string }
  | {
      readonly status: "outdated";
      readonly source: FetchedSource;
      readonly skill: ValidSkill;
      /** A tag that was published with other content before. */
      readonly isMovedTag: boolean;
    }
  /** `missing`: the source, the reference or the skill in it is no longer there. */
  | { readonly status: "missing" | "failed"; readonly fault: InstallFault };

export interface UpstreamContext extends Pick<InstallRequest, "signal" | "onProgress"> {
  readonly parts: InstallParts;
  /** Everything that is fetched lies here. */
  readonly quarantine: Quarantine;
}

/** Sources that are asked at the same time. */
const MOST_AT_ONCE = 4;

export async function lookUpstream(
  entries: readonly LockedEntry[],
  context: UpstreamContext,
): Promise<ReadonlyMap<LockEntry, Upstream>> {
  const found = new Map<LockEntry, Upstream>();
  const open: LockedEntry[] = [];
  for (const one of entries) {
    const settled = settleAlone(one.entry);
    if (settled) found.set(one.entry, settled);
    else open.push(one);
  }
  const sources = [...Map.groupBy(open, ({ entry }) => entry.source)];
  let done = 0;
  context.onProgress?.({ what: "Asking sources", done, total: sources.length });
  await mapBounded(sources, MOST_AT_ONCE, async ([source, group]) => {
    for (const [entry, upstream] of await lookAtSource(source, group, context)) found.set(entry, upstream);
    done += 1;
    context.onProgress?.({ what: "Asking sources", done, total: sources.length });
  });
  return found;
}

/** What needs nobody to be asked. */
function settleAlone(entry: LockEntry): Upstream | undefined {
  if (entry.linked) {
    return { status: "local", reason: `It is the folder \`${entry.resolved}\` itself, used in place.` };
  }
  const { kind, ref, resolved } = entry;
  const isCommit =
    kind === "git" && ref !== undefined && /^[0-9a-f]{7,}$/.test(ref) && resolved.startsWith(ref);
  const isVersion = kind === "npm" && ref !== undefined && resolved.split(" ")[0] === ref;
  if (!isCommit && !isVersion) return undefined;
  const what = isCommit ? "the commit" : "the version";
  return {
    status: "pinned",
    reason: `It is pinned to ${what} \`${ref}\`; install it again with another \`--ref\`.`,
  };
}

type Looked = readonly (readonly [LockEntry, Upstream])[];

async function lookAtSource(
  source: string,
  locked: readonly LockedEntry[],
  context: UpstreamContext,
): Promise<Looked> {
  const group = locked.map(({ entry }) => entry);
  const owners = locked.map(({ lockFile }) => lockFile.owner);
  const parsed = parseLockedAddress(source, owners, context.parts);
  if (!parsed.ok) return failAll(group, parsed.fault);
  const resolved = await resolveNow(parsed.address, context);
  if (!resolved.ok) return failAll(group, resolved.fault);
  const isSame = (entry: LockEntry): boolean => entry.resolved === resolved.now;
  const same = group.filter(isSame).map((entry) => [entry, describeSame(entry, resolved)] as const);
  const moved = group.filter((entry) => !isSame(entry));
  if (moved.length === 0) return same;
  const { parts, quarantine, signal } = context;
  const skills = moved.map(({ name }) => name);
  const opened = await openSource(parsed.address, { parts, quarantine, skills, ...(signal && { signal }) });
  if (!opened.ok) return [...same, ...failAll(moved, opened.fault)];
  const isMovedTag = resolved.isTag === true;
  const compared = moved.map((entry) => {
    return [entry, compare(entry, opened.skills, opened.source, isMovedTag)] as const;
  });
  return [...same, ...compared];
}

type ResolvedNow = { readonly ok: true; readonly now?: string; readonly isTag?: boolean } | FaultOutcome;

/** Without `now`, only the content can tell. */
async function resolveNow(address: SourceAddress, context: UpstreamContext): Promise<ResolvedNow> {
  if (address.kind === "git") {
    const { resolveGit } = await import("../git/fetch-git.ts");
    const outcome = await resolveGit(address, fetchContext(context));
    if (!outcome.ok) return outcome;
    return { ok: true, now: outcome.commit, isTag: outcome.listed?.startsWith("refs/tags/") ?? false };
  }
  if (address.kind !== "npm") return { ok: true };
  const { resolveNpm } = await import("../npm/fetch-npm.ts");
  const outcome = await resolveNpm(address, fetchContext(context));
  return outcome.ok ? { ok: true, now: outcome.resolved } : outcome;
}

function fetchContext({ parts, quarantine, signal }: UpstreamContext): FetchContext {
  return {
    into: quarantine.makeFolder(),
    limits: SOURCE_LIMITS,
    environment: parts.environment,
    ...(parts.registry !== undefined && { registry: parts.registry }),
    ...(parts.addresses && { addresses: parts.addresses }),
    ...(signal && { signal }),
  };
}

const NOTHING_NEWER = "The source has nothing newer.";

function describeSame({ ref }: LockEntry, { isTag }: ResolvedNow & { readonly ok: true }): Upstream {
  if (!isTag) return { status: "current", reason: NOTHING_NEWER };
  return {
    status: "pinned",
    reason: `It is pinned to the tag \`${ref}\`; install it again with another \`--ref\`.`,
  };
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
    const reason = isMoved ? "The source has moved on, but this skill is the same." : NOTHING_NEWER;
    return { status: "current", reason };
  }
  return { status: "outdated", source, skill, isMovedTag };
}

function describeInvalid(skill: SourceSkill, { name }: LockEntry): Upstream {
  const { reason, hint = "" } = refuseInvalid(skill, name);
  const message = `Its new version cannot be used. ${reason}`;
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
    ? `At ${place} the source now has another skill, \`${there.name}\`.`
    : `The source no longer has it at ${place}.`;
  const hint = elsewhere
    ? `It has one of that name at \`${elsewhere.path}\`, which \`metier install\` takes with \`--force\`.`
    : "What is installed stays as it is; `metier remove` takes it away.";
  return { status: "missing", fault: { code: "source.not_found", message: what, hint } };
}

const MISSING: readonly InstallFaultCode[] = ["source.not_found", "source.ref_not_found", "install.no_skill"];

function failAll(group: readonly LockEntry[], fault: InstallFault): Looked {
  const status = MISSING.includes(fault.code) ? "missing" : "failed";
  return group.map((entry) => [entry, { status, fault }] as const);
}

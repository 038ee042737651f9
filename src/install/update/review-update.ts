/** The three-way view of one update: what is installed, what the source has now, and what was changed by hand here. */
import { recallFiles } from "../../lock/file-lists.ts";
import { calledAs } from "../../lock/lock-entry.ts";
import type { FileChange } from "../../trust/content-identity.ts";
import type { SkillGrant } from "../../trust/grants.ts";
import type { IdentifiedFile } from "../../trust/identify-file.ts";
import type { LockedEntry } from "../choose-installed.ts";
import type { FaultOutcome } from "../install-fault.ts";
import { availableMark, markOf } from "../outdated.ts";
import type { ValidSkill } from "../plan-skill.ts";
import { scanFolder } from "../scan-fetched.ts";
import { summariseSkill } from "../summarise.ts";
import type { UpdateReview } from "../update-request.ts";
import { compareContent } from "./compare-content.ts";
import { type DescribedVersion, findRisks } from "./find-risks.ts";
import { type EditedFolder, findEdited, heldFolders } from "./local-changes.ts";
import { openBase } from "./open-base.ts";
import type { Upstream, UpstreamContext } from "./upstream.ts";

export interface ReviewContext extends UpstreamContext {
  readonly grants: readonly SkillGrant[];
}

export type UpdateReviewing = { readonly ok: true; readonly review: UpdateReview } | FaultOutcome;

export async function reviewUpdate(
  { entry, lockFile }: LockedEntry,
  upstream: Upstream & { readonly status: "outdated" },
  context: ReviewContext,
): Promise<UpdateReviewing> {
  const { parts, grants } = context;
  const base = await openBase(entry, context);
  const known = base?.files ?? recallFiles(parts.places, entry.digest);
  const found = findEdited(heldFolders(entry, lockFile, parts), knownDigests(entry), known);
  if (!found.ok) return found;
  const { skill, isMovedTag } = upstream;
  const name = calledAs(entry);
  const before = base && (await describeVersion(base, name, context));
  const after = await describeVersion(skill, name, context);
  const { files, diff } = compareContent(base ?? { directory: skill.directory, files: [] }, skill);
  const old = new Set(before?.summary.findings.map(({ fingerprint }) => fingerprint));
  const { ref, source, digest } = entry;
  const review: UpdateReview = {
    name,
    lock: lockFile.owner,
    source,
    ...(ref !== undefined && { ref }),
    from: { ...markOf(entry), ...(base?.version !== undefined && { version: base.version }) },
    to: availableMark(upstream),
    upstream: files,
    diff,
    local: found.edited.map(({ content: _, ...changes }) => changes),
    conflicts: findConflicts(files, found.edited, skill.files),
    risks: findRisks(before, after),
    newFindings: after.summary.findings.filter(({ fingerprint }) => !old.has(fingerprint)),
    isMovedTag,
    isBaseMissing: base === undefined,
    losesTrust: grants.some((grant) => grant.digest === digest),
    summary: after.summary,
  };
  return { ok: true, review };
}

/** What Metier itself put there: a copy may have stayed behind when an update was interrupted. */
function knownDigests({ digest, previous }: LockedEntry["entry"]): readonly string[] {
  return [digest, ...(previous ? [previous.digest] : [])];
}

async function describeVersion(
  skill: ValidSkill,
  called: string,
  { parts }: ReviewContext,
): Promise<DescribedVersion> {
  const { manifest, directory, files } = skill;
  const scan = await scanFolder(directory, called, parts.scan);
  return { summary: summariseSkill(skill, scan), manifest, directory, files };
}

function findConflicts(
  upstream: readonly FileChange[],
  edited: readonly EditedFolder[],
  theirs: readonly IdentifiedFile[],
): readonly string[] {
  const changed = new Set(upstream.map(({ path }) => path));
  const digests = (files: readonly IdentifiedFile[]): ReadonlyMap<string, string> =>
    new Map(files.map(({ path, digest }) => [path, digest]));
  const wanted = digests(theirs);
  const both = edited.flatMap(({ files, content }) => {
    const here = digests(content);
    return files
      .map(({ path }) => path)
      .filter((path) => changed.has(path) && here.get(path) !== wanted.get(path));
  });
  return [...new Set(both)].sort();
}

/**
 * The three-way view of one update: what is installed, the source's current version, and edits in the skill's folders,
 * which are saved when another version replaces them.
 */
import { cpSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { folderName, makeOwnedName, removeAbandoned, removeFolder } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Refused, type Result } from "@metier/base/result";
import {
  calledAs,
  compareIdentity,
  type FileChange,
  findDifference,
  type IdentifiedFile,
  identifyFolder,
  isWithinOwner,
  type LockEntry,
  type LockFile,
  lockedFolder,
  placedFolder,
  recallFiles,
  type SkillGrant,
  storeFolder,
} from "@metier/skills/trust";
import { parseSourceAddress, pinAddress, readsFromProject } from "../addresses/source-address.ts";
import type { LockedEntry } from "../choose-skills.ts";
import { stateOfPlace } from "../clients.ts";
import { ownDigests, stateOfCopy } from "../fan-out.ts";
import { type Fetching, openSource } from "../fetch-source.ts";
import { findSourceSkills, type SourceSkill } from "../find-source-skills.ts";
import { faulty, type InstallFault } from "../install-fault.ts";
import { availableMark, type Upstream, versionMark } from "../outdated.ts";
import { isValid, type ValidSkill } from "../plan-skill.ts";
import type { InstallParts, LocalChanges, UpdateReview } from "../requests.ts";
import { summariseSkill } from "../review-skills.ts";
import { scanFetched } from "../scan-fetched.ts";
import { type DescribedVersion, findRisks } from "./update-risks.ts";

export async function reviewUpdate(
  { entry, lockFile }: LockedEntry,
  upstream: Upstream & { readonly status: "outdated" },
  context: Fetching & { readonly grants: readonly SkillGrant[] },
): Promise<Result<UpdateReview, InstallFault>> {
  const { parts, grants } = context;
  const base = await openBase(entry, context);
  const known = base?.files ?? recallFiles(parts.places, entry.digest);
  const found = findEdited(heldFolders(entry, lockFile, parts), ownDigests(entry), known);
  if (!found.ok) return found;
  const { skill, isMovedTag } = upstream;
  const name = calledAs(entry);
  const before = base && (await describeVersion(base, name, context));
  const after = await describeVersion(skill, name, context);
  const { compareContent } = await import("./compare-content.ts");
  const { files, diff } = compareContent(base ?? { directory: skill.directory, files: [] }, skill);
  const old = new Set(before?.summary.findings.map(({ fingerprint }) => fingerprint));
  const { ref, source, digest } = entry;
  return done({
    name,
    lock: lockFile.owner,
    source,
    ref,
    from: { ...versionMark(entry), version: base?.version },
    to: availableMark(upstream),
    upstream: files,
    diff,
    local: found.value.map(({ content: _, ...changes }) => changes),
    conflicts: findConflicts(files, found.value, skill.files),
    risks: findRisks(before, after),
    newFindings: after.summary.findings.filter(({ fingerprint }) => !old.has(fingerprint)),
    isMovedTag,
    isBaseMissing: base === undefined,
    losesTrust: grants.some((grant) => grant.digest === digest),
    summary: after.summary,
  });
}

async function describeVersion(
  skill: ValidSkill,
  called: string,
  { parts }: Fetching,
): Promise<DescribedVersion> {
  const scan = await scanFetched(skill.directory, called, parts.scan);
  return { ...skill, summary: summariseSkill(skill, scan) };
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

/** The installed version as it was fetched. `undefined` if it is no longer available byte for byte. */
async function openBase(entry: LockEntry, context: Fetching): Promise<ValidSkill | undefined> {
  const { parts } = context;
  const folder = storeFolder(parts.places, entry);
  const isStored = findDifference(folder, entry.digest) === undefined;
  const skills = isStored
    ? (await findSourceSkills({ folder, paths: [""] }, parts.profile, entry.name)).skills
    : await fetchAgain(entry, context);
  const base = skills.find(({ digest }) => digest === entry.digest);
  return base && isValid(base) ? base : undefined;
}

async function fetchAgain(entry: LockEntry, context: Fetching): Promise<readonly SourceSkill[]> {
  const { parts, quarantine, signal } = context;
  const parsed = parseSourceAddress(entry.source, readsFromProject(parts));
  if (!parsed.ok) return [];
  const address = pinAddress(parsed.value, entry, entry.path);
  const opened = await openSource(address, { parts, quarantine, signal }, { skills: [entry.name] });
  return opened.ok ? opened.value.skills : [];
}

export interface EditedFolder extends LocalChanges {
  readonly content: readonly IdentifiedFile[];
}

/** A folder with the skill, and its client. */
interface HeldFolder {
  readonly folder: string;
  readonly client?: string;
}

/** Where the skill exists as files that may have been edited; links lead to one of them. */
export function heldFolders(
  entry: LockEntry,
  lockFile: LockFile,
  { places }: Pick<InstallParts, "places">,
): readonly HeldFolder[] {
  if (entry.linked) return [{ folder: lockedFolder(places, lockFile, entry) }];
  const copies = (entry.placed ?? [])
    .filter((copy) => copy.how === "copy" && stateOfPlace(copy, entry, { places, lockFile }) === "foreign")
    .map((copy) => ({ folder: placedFolder(lockFile, copy), client: copy.client }));
  const own = lockedFolder(places, lockFile, entry);
  const hasOwn = entry.copied && isWithinOwner(lockFile, own);
  return [{ folder: storeFolder(places, entry) }, ...(hasOwn ? [{ folder: own }] : []), ...copies];
}

/** `known`: the digests that Metier may have put there. `base`: the files of the installed version, if known. */
export function findEdited(
  folders: readonly HeldFolder[],
  known: readonly string[],
  base: readonly IdentifiedFile[] | undefined,
): Result<readonly EditedFolder[], InstallFault> {
  const edited: EditedFolder[] = [];
  for (const held of folders) {
    const stats = lstatSync(held.folder, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const outcome = stats.isDirectory() ? identifyFolder(held.folder) : undefined;
    if (!outcome?.ok) return unreadable(held.folder, outcome?.refusal.message ?? "It is not a folder.");
    const { digest, files: content } = outcome.value;
    if (known.includes(digest)) continue;
    edited.push({ ...held, digest, content, files: compareIdentity(base ?? [], content) });
  }
  return done(edited);
}

function unreadable(folder: string, why: string): Refused<InstallFault> {
  return faulty(
    "install.conflict",
    `Edits in \`${folder}\` could not be determined, so Metier did not touch it. ${why}`,
    "Move it away, then run the command again.",
  );
}

const STAGED = { prefix: ".keeping-" };

/** Saves a copy by its content, in a folder that nothing searches and only the user cleans up. Returns that folder. */
export function keepAside(
  places: Pick<Places, "state">,
  name: string,
  folder: string,
  digest: string,
): string {
  const all = join(places.state, "replaced");
  mkdirSync(all, { recursive: true, mode: 0o700 });
  const target = join(all, `${folderName(name)}@${digest.slice("sha256:".length).slice(0, 16)}`);
  const state = stateOfCopy(target, [digest]);
  if (state === "intact") return target;
  removeAbandoned(all, STAGED);
  const staged = join(all, makeOwnedName(STAGED));
  try {
    cpSync(folder, staged, { recursive: true, verbatimSymlinks: true });
    const place = state === "missing" ? target : `${target}-${Date.now()}`;
    renameSync(staged, place);
    return place;
  } finally {
    removeFolder(staged);
  }
}

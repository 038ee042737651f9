/**
 * Selects skills. From a source: those that the request names, the only one, or what the user picks. From what is
 * installed: those that are named, or all in the locks.
 */
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { compileGlob } from "@metier/base/text";
import { readLock } from "@metier/skills/formats";
import { calledAs, type LockEntry, type LockFile, projectLockFile, userLockFile } from "@metier/skills/trust";
import type { SourceSkill } from "./find-source-skills.ts";
import { faulty, type InstallFault, lockFault, suggestName } from "./install-fault.ts";
import type {
  ChoosableSkill,
  InstallDecisions,
  InstallParts,
  InstallRequest,
  SkippedSkill,
} from "./requests.ts";

type Choice = Result<readonly SourceSkill[], InstallFault>;

/** `found` is not empty. */
export async function chooseFromSource(
  found: readonly SourceSkill[],
  { skills, name }: Pick<InstallRequest, "skills" | "name">,
  { choose }: InstallDecisions,
): Promise<Choice> {
  const choice =
    skills === undefined ? await chooseUnnamed(found, choose) : chooseNamed(found, skills.map(trimSlashes));
  if (choice.ok && name !== undefined && choice.value.length > 1) {
    return faulty(
      "install.usage",
      `The name \`${name}\` is for one skill, but ${choice.value.length} are selected: ${list(choice.value)}.`,
      "Select one with `--skill`.",
    );
  }
  return choice;
}

/** Two different skills with one name cannot both be installed, and which one is meant is not guessed. */
export function setTwinsApart(chosen: readonly SourceSkill[]): {
  readonly unique: readonly SourceSkill[];
  readonly twins: readonly SkippedSkill[];
} {
  const groups = [...Map.groupBy(chosen, ({ name }) => name).values()];
  const twins = groups.filter((group) => group.length > 1).map(refuseTwins);
  return { unique: groups.flatMap((group) => (group.length === 1 ? group : [])), twins };
}

function refuseTwins(group: readonly SourceSkill[]): SkippedSkill {
  const paths = group.map(({ path }) => showPath(path)).join(", ");
  return {
    name: group[0]?.name ?? "",
    code: "install.conflict",
    reason: `${group.length} different skills in the source have this name: ${paths}.`,
    hint: "Select one by its path with `--skill`.",
  };
}

function chooseNamed(found: readonly SourceSkill[], wanted: readonly string[]): Choice {
  const chosen = new Set<SourceSkill>();
  for (const wish of wanted) {
    const fits = matching(found, wish);
    if (fits.length === 0) return nothingFits(found, wish);
    for (const skill of fits) chosen.add(skill);
  }
  return done(found.filter((skill) => chosen.has(skill)));
}

/** A path means exactly one skill, so it takes precedence over a name that may match several. */
function matching(found: readonly SourceSkill[], wish: string): readonly SourceSkill[] {
  const byPath = found.filter(({ path }) => path === wish);
  if (byPath.length > 0) return byPath;
  const fits = compileGlob(wish);
  return found.filter(({ name, path }) => fits(name) || (wish.includes("/") && fits(path)));
}

function trimSlashes(wish: string): string {
  return wish.replace(/^\.\//, "").replace(/\/+$/, "");
}

function nothingFits(found: readonly SourceSkill[], wish: string): Refused<InstallFault> {
  const names = found.map(({ name }) => name);
  const hint = `${suggestName(wish, names)} It has: ${list(found)}.`.trimStart();
  return faulty("install.no_skill", `The source has no skill ${showPath(wish)}.`, hint);
}

async function chooseUnnamed(
  found: readonly SourceSkill[],
  choose: InstallDecisions["choose"],
): Promise<Choice> {
  if (found.length === 1) return done(found);
  if (choose === undefined) {
    return faulty(
      "install.choice",
      `The source has ${found.length} skills: ${list(found)}.`,
      "Select some with `--skill <name>` (repeatable; also a glob or a path), or take all with `--all`.",
    );
  }
  const picked = new Set(await choose(found.map(choosable)));
  return done(found.filter(({ path }) => picked.has(path)));
}

export function choosable({ name, path, description, valid }: SourceSkill): ChoosableSkill {
  return { name, path, description, valid };
}

const MOST_LISTED = 40;

function list(skills: readonly SourceSkill[]): string {
  const shown = skills.slice(0, MOST_LISTED).map(({ name }) => `\`${name}\``);
  const more = skills.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** Selects installed skills. */
export interface InstalledWish {
  /** By their names here. Absent or empty: all. */
  readonly skills?: readonly string[];
  /** `true`: only the project's lock; `false`: only the user's. Absent: both. */
  readonly project?: boolean;
}

/** An entry, and the lock that records it. */
export interface LockedEntry {
  readonly entry: LockEntry;
  readonly lockFile: LockFile;
}

/** The user's first, each sorted by name. A name in neither lock is a fault. */
export function chooseInstalled(
  { skills: names = [], project }: InstalledWish,
  { places, projectRoot }: Pick<InstallParts, "places" | "projectRoot">,
): Result<readonly LockedEntry[], InstallFault> {
  const locks = [
    ...(project === true ? [] : [userLockFile(places)]),
    ...(project === false ? [] : [projectLockFile(projectRoot)]),
  ];
  const all: LockedEntry[] = [];
  for (const lockFile of locks) {
    const read = readLock(lockFile);
    if (!read.ok) return lockFault(read.refusal);
    all.push(...read.value.skills.map((entry) => ({ entry, lockFile })));
  }
  if (names.length === 0) return done(all);
  const chosen = new Set<LockedEntry>();
  for (const name of names) {
    const meant = findMeant(all, name.replace(/^installed:/, ""));
    if (meant.length === 0) return notInstalled(name, all, project);
    for (const one of meant) chosen.add(one);
  }
  return done(all.filter((one) => chosen.has(one)));
}

/** By its name here, otherwise by its own name; both locks may have it. */
function findMeant(all: readonly LockedEntry[], name: string): readonly LockedEntry[] {
  const called = all.filter(({ entry }) => calledAs(entry) === name);
  return called.length > 0 ? called : all.filter(({ entry }) => entry.name === name);
}

function notInstalled(
  name: string,
  all: readonly LockedEntry[],
  project: boolean | undefined,
): Refused<InstallFault> {
  const where = project === undefined ? "" : project ? " in this project" : " for you";
  const known = all.map(({ entry }) => calledAs(entry));
  const hint = suggestName(name, known) || "See what is installed with `metier list --scope installed`.";
  return faulty("install.not_installed", `\`${name}\` is not installed${where}.`, hint);
}

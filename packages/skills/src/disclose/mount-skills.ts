/**
 * Puts selected skills into a workspace folder, where an agent reads them with its own tools. All or nothing: if
 * anything fails, everything created is removed.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError, type MountFault, SkillMountError, SkillResourceError } from "@metier/base/errors";
import {
  type ContainedFile,
  checkContainedPath,
  openContained,
  showPath,
  withContained,
} from "@metier/base/files";
import { realPathOr } from "@metier/base/places";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { Skill } from "../skill/skill.ts";
import {
  type ClaimedTarget,
  type CopyCount,
  claimTarget,
  copyOpened,
  copySkillFolder,
  findEscapingLinks,
  MOUNT_LIMITS,
  type MountLimits,
  spend,
} from "./mount-files.ts";
import { type ReadInstructionsOptions, readInstructions, writeSkillText } from "./read-instructions.ts";
import { hasFolder, realRoots, requireSkillFolder } from "./resources.ts";

export interface MountOptions extends Pick<ReadInstructionsOptions, "roots" | "bodyOf" | "profile"> {
  /** The folder that the mount path must not leave. */
  readonly workspace: string;
  /** Relative to the workspace: `skills`, `skills/org`. Created if needed. */
  readonly target: string;
  /** `link` costs nothing and shows changes at once, but lets writers of the workspace change the skill itself. */
  readonly mode?: "copy" | "link";
  /** The maximum to copy. Default: 10 MiB per file, 50 MiB per skill. */
  readonly limits?: Partial<MountLimits>;
  /** Folder names that differ from the skill's own, by skill name. */
  readonly names?: Readonly<Record<string, string>>;
  /** Content of `SKILL.md` instead of the skill's own file, by skill name. Such a skill is copied, never linked. */
  readonly texts?: ReadonlyMap<string, string>;
}

const OPTIONS: OptionKeys<MountOptions> = {
  roots: true,
  bodyOf: true,
  profile: true,
  workspace: true,
  target: true,
  mode: true,
  limits: true,
  names: true,
  texts: true,
};

interface MountedSkill {
  /** The skill in the catalog. */
  readonly skill: Skill;
  /** Absolute. */
  readonly directory: string;
  /** Relative to the workspace: `skills/pdf`. */
  readonly mountPath: string;
}

export interface Mount {
  /** The folder they are mounted in, absolute. */
  readonly target: string;
  /** What was mounted, and where. */
  readonly skills: readonly MountedSkill[];
  /** What was left out, and why. */
  readonly diagnostics: readonly Diagnostic[];
  /** Removes only what was mounted; a second call does nothing. */
  cleanup(): void;
}

/** Throws `SkillMountError` whose `reason` says why nothing was mounted. */
export async function mountSkills(skills: readonly Skill[], options: MountOptions): Promise<Mount> {
  checkKeys("mountSkills", options ?? null, OPTIONS);
  checkKeys("mountSkills({ limits })", options.limits, { ...MOUNT_LIMITS });
  const own = skills.filter(({ remote }) => !remote);
  const names = chooseNames(own, options.names ?? {});
  const claimed = claimTarget(options.workspace, options.target);
  const made: string[] = [];
  const cleanup = createCleanup(claimed, made);
  try {
    const diagnostics = skills.filter(({ remote }) => remote).map(reportRemote);
    const mounted: MountedSkill[] = [];
    const count: CopyCount = { limits: { ...MOUNT_LIMITS, ...options.limits }, skillBytes: 0, totalBytes: 0 };
    for (const [name, skill] of names) {
      const directory = join(claimed.path, name);
      count.skillBytes = 0;
      diagnostics.push(...(await mountSkill(skill, directory, options, made, count)));
      mounted.push({ skill, directory, mountPath: `${claimed.mountPath}/${name}` });
    }
    return { target: claimed.path, skills: mounted, diagnostics, cleanup };
  } catch (error) {
    throw cleanUpAfter(toMountError(error, claimed.path), cleanup);
  }
}

/** In a skills folder, nobody could tell anymore that it came from a server. */
function reportRemote({ name, location }: Skill): Diagnostic {
  return {
    code: "remote.not-mounted",
    severity: "warning",
    path: location,
    message: `\`${name}\` comes from an MCP server, so it is not mounted like a local skill.`,
    hint: "Offer it through a tool (`use_skill`), which says where it comes from.",
  };
}

/** Reports the first error; what could not be removed is added. */
function cleanUpAfter(error: Error, cleanup: () => void): Error {
  try {
    cleanup();
    return error;
  } catch (left) {
    return new AggregateError([error, left], `${error.message} ${(left as Error).message}`);
  }
}

/** Folder name → skill. Names that differ only in case would collide on some file systems. */
function chooseNames(
  skills: readonly Skill[],
  names: Readonly<Record<string, string>>,
): ReadonlyMap<string, Skill> {
  const chosen = new Map<string, Skill>();
  const taken = new Set<string>();
  for (const skill of skills) {
    const name = Object.hasOwn(names, skill.name) ? (names[skill.name] ?? "") : skill.name;
    const checked = checkContainedPath(name);
    if (!checked.ok || checked.path !== name || checked.segments.length !== 1) {
      const message = `${showPath(name)} cannot be the folder name of skill \`${skill.name}\`: it must be a single plain name.`;
      throw new SkillMountError(name, "invalid", message);
    }
    const key = name.normalize("NFC").toLowerCase();
    if (taken.has(key)) {
      throw new SkillMountError(name, "duplicate", `Two skills would be mounted as ${showPath(name)}.`, {
        hint: "Leave one out, or rename one with `names`.",
      });
    }
    taken.add(key);
    chosen.set(name, skill);
  }
  return chosen;
}

/** `made` collects what must be removed again. */
async function mountSkill(
  skill: Skill,
  directory: string,
  options: MountOptions,
  made: string[],
  count: CopyCount,
): Promise<readonly Diagnostic[]> {
  const other = options.texts?.get(skill.name);
  const link = options.mode === "link" && other === undefined;
  if (hasFolder(skill)) {
    const folder = requireSkillFolder(skill, options);
    if (link) {
      const escaping = findEscapingLinks(folder, count.limits.entries);
      makeNew(() => symlinkSync(folder, directory, "dir"), directory, made);
      return escaping.map(reportEscaping);
    }
    makeNew(() => mkdirSync(directory), directory, made);
    const diagnostics = copySkillFolder(folder, directory, count);
    if (other !== undefined) {
      rmSync(join(directory, basename(skill.location)));
      writeFileSync(join(directory, "SKILL.md"), other, { flag: "wx" });
    }
    return diagnostics;
  }
  makeNew(() => mkdirSync(directory), directory, made);
  const file = join(directory, "SKILL.md");
  if (other !== undefined) {
    writeFileSync(file, other, { flag: "wx" });
    return [];
  }
  if (skill.form === "markdown" && skill.location !== "") {
    useFlatFile(skill, options, (opened) => {
      if (link) symlinkSync(opened.realPath, file);
      else copyOpened(opened, file, count);
    });
    return [];
  }
  const instructions = await readInstructions(skill, options);
  const text = writeSkillText(instructions);
  const bytes = Buffer.byteLength(text);
  spend(count, bytes, bytes, skill.location || skill.name);
  writeFileSync(file, text, { flag: "wx" });
  return instructions.diagnostics;
}

function reportEscaping(path: string): Diagnostic {
  return {
    code: "mount.link-escapes",
    severity: "warning",
    path,
    message:
      "The link points outside the skill's folder, and anyone who reads the mounted folder can follow it.",
    hint: "Mount with `copy`, which leaves such links out, or copy the file into the skill.",
  };
}

function useFlatFile(skill: Skill, options: MountOptions, use: (file: ContainedFile) => void): void {
  const folder = realPathOr(skill.directory);
  const opened = openContained(folder, basename(skill.location), realRoots(skill, options));
  const fault = withContained(opened, use);
  if (fault) throw new SkillResourceError(skill.name, skill.location, fault.reason, fault.message);
}

/** Touches nothing that already exists. */
function makeNew(make: () => void, path: string, made: string[]): void {
  try {
    make();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new SkillMountError(path, "taken", `${showPath(path)} already exists.`, {
      cause,
      hint: "Move it away, or mount into another folder.",
    });
  }
  made.push(path);
}

function createCleanup(claimed: ClaimedTarget, made: readonly string[]): () => void {
  let done = false;
  return () => {
    if (done) return;
    // A workspace may be hostile by now: nothing is removed through a link that replaced the folder.
    if (!claimed.isInPlace()) {
      const message = `${showPath(claimed.path)} was moved or replaced, so the mount was not removed.`;
      throw new SkillMountError(claimed.path, "outside", message, { hint: "Remove it yourself." });
    }
    for (const path of made) rmSync(path, { recursive: true, force: true });
    claimed.release();
    done = true;
  };
}

const SAME_REASON = new Set<string>(["outside", "missing", "too-large", "invalid"]);

function toMountError(error: unknown, target: string): Error {
  if (error instanceof SkillResourceError) {
    const reason = SAME_REASON.has(error.reason) ? (error.reason as MountFault) : "failed";
    return new SkillMountError(error.path, reason, error.message, { cause: error });
  }
  if (error instanceof MetierError) return error;
  const message = `The skills cannot be mounted at ${showPath(target)}: ${(error as Error).message}.`;
  return new SkillMountError(target, "failed", message, { cause: error });
}

/**
 * What remains after a run: the files in its work folder, and its skill's data folder, which survives runs, updates and
 * removal. An untrusted skill, or one from a project, never sees another's data under its name.
 */

import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { distinctName, folderName, listFiles, openContained, withContained } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { type Places, realPathOr } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import { openKeyValues, PROTECTED_NAMES, StoreFault } from "@metier/sandbox";
import type { Skill, Trust } from "@metier/skills";
import type { RunResult } from "./run-result.ts";

export interface DataFolders {
  /** `$METIER_DATA_DIR`: of one user, or of runs without one. */
  readonly own: string;
  /** Every run of the skill may read it, none may write it. Next to the others, so that it can be found from there. */
  readonly global: string;
}

export interface DataOwner {
  readonly skill: Pick<Skill, "name" | "scope" | "directory" | "location" | "locked" | "source">;
  /** For this use: what a skill does for an untrusted caller is kept separate. */
  readonly trust: Trust;
  readonly user?: string | undefined;
}

export function dataFolders({ data }: Pick<Places, "data">, { skill, trust, user }: DataOwner): DataFolders {
  const folder = join(data, dataKey(skill, trust));
  return {
    own: join(folder, user === undefined ? "own" : `user-${folderName(user)}`),
    global: join(folder, "global"),
  };
}

export interface FoundData {
  readonly folders?: DataFolders;
  readonly diagnostics: readonly Diagnostic[];
}

/** Created if missing. If the disk takes no folder, that is a diagnostic, and the skill has no data. */
export function makeDataFolders(places: Pick<Places, "data">, owner: DataOwner): FoundData {
  const folders = dataFolders(places, owner);
  try {
    for (const folder of [folders.own, folders.global]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folders, diagnostics: [] };
  } catch (fault) {
    const message = `Skill \`${owner.skill.name}\` has no data folder: ${(fault as Error).message}.`;
    const hint = forReader({
      command: "Make the folder writable, or choose another home with `--home`.",
      program: "Make the folder writable, or choose another home with `home`.",
    });
    const code = "data.folder-missing";
    return { diagnostics: [{ code, severity: "warning", message, path: folders.own, hint }] };
  }
}

function dataKey(
  { name, scope, directory, location, locked, source }: DataOwner["skill"],
  trust: Trust,
): string {
  if (trust === "trusted" && scope !== "project") return folderName(name);
  // An installed skill has a new folder after each update and keeps its data; one from another source gets none of it.
  if (locked && !locked.linked)
    return distinctName(name, `${realPathOr(locked.lock)}\0${name}\0${locked.origin}`);
  if (source) return distinctName(name, `source\0${source.source}\0${source.id}`);
  // A server's skill has its own name, and a new folder after each change.
  return distinctName(name, location === "" || scope === "remote" ? name : realPathOr(directory));
}

/** Whose values a skill's store has: one user's, those of runs without a user, or everyone's. */
export interface StoreOptions {
  /** A caller's `userId`. Default: the values of runs without a user. */
  readonly user?: string;
  /** Every run of the skill may read these, for any user, and none may change them. */
  readonly global?: boolean;
}

/** Each value is a file in the skill's data folder, so that scripts and other processes see it. */
export interface SkillStore {
  /** `undefined` if there is none. */
  get(key: string): Json | undefined;
  /** Throws `UsageError` for what can't be stored: not JSON, or too large. */
  set(key: string, value: Json): void;
  /** Whether there was one. */
  delete(key: string): boolean;
  /** By key. */
  all(): Readonly<Record<string, Json>>;
  /** Removes every value. */
  clear(): void;
  /** One for each value that couldn't be read and was moved away. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill's key-value store for an embedding program: of one user, of runs without one, or of all users. */
export function openSkillStore(
  places: Pick<Places, "data">,
  skill: Skill,
  options: StoreOptions = {},
): SkillStore {
  const { user, global = false } = options;
  if (global && user !== undefined) {
    throw new UsageError("A store belongs to one user or to all: set `user` or `global`, not both.");
  }
  const folders = dataFolders(places, { skill, trust: skill.trust.level, user });
  const diagnostics: Diagnostic[] = [];
  const values = openKeyValues(global ? folders.global : folders.own, (path, reason) => {
    const message = `A stored value of \`${skill.name}\` cannot be read: ${reason}.`;
    const hint = `It was moved to \`${path}.corrupt\`.`;
    diagnostics.push({ code: "store.corrupt", severity: "warning", message, path, hint });
  });
  return {
    get: (key) => use(() => values.get(key) as Json | undefined),
    set: (key, value) => use(() => values.set(key, value)),
    delete: (key) => use(() => values.delete(key)),
    all: () => use(() => values.all() as ReturnType<SkillStore["all"]>),
    clear: () => values.clear(),
    diagnostics,
  };
}

function use<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof StoreFault) throw new UsageError(fault.message);
    throw fault;
  }
}

const MAX_ENTRIES = 10_000;
const MAX_LISTED = 500;

interface WorkFiles {
  readonly files: RunResult["files"];
  readonly diagnostics: readonly Diagnostic[];
}

/** What a run left in its work folder: regular files with their sizes, sorted, limited; and how many aren't listed. */
export function listWorkFiles(workDir: string): WorkFiles {
  const listing = listFiles(workDir, MAX_ENTRIES);
  if (!listing.ok) {
    return { files: [], diagnostics: [unlisted(workDir, `Its files cannot be listed: ${listing.detail}.`)] };
  }
  const all = listing.files.filter(({ kind }) => kind === "file");
  const files = all.slice(0, MAX_LISTED).map(({ path }) => {
    const size = lstatSync(join(workDir, path), { throwIfNoEntry: false })?.size ?? 0;
    return { path, size };
  });
  const left = all.length - files.length;
  const message = `It left ${all.length} files; the last ${left} are not listed, and \`--out\` does not copy them.`;
  return { files, diagnostics: left > 0 ? [unlisted(workDir, message)] : [] };
}

function unlisted(path: string, message: string): Diagnostic {
  return {
    code: "run.files-unlisted",
    severity: "warning",
    path,
    message,
    hint: "The work folder is kept: copy them from there.",
  };
}

interface CopiedFiles {
  readonly copied: readonly string[];
  /** Files that other programs would obey. */
  readonly left: readonly string[];
  /** One for all that couldn't be copied. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * `--out`: copies what a run left in its work folder to a user's folder. Only regular files; links stay behind, and so
 * do files that other programs would obey there (`.git/hooks`, `.envrc`): a run must not act outside its sandbox later.
 */
export function copyWorkFiles(workDir: string, target: string, files: RunResult["files"]): CopiedFiles {
  const left = files.map(({ path }) => path).filter(isObeyed);
  const copied: string[] = [];
  const faults: string[] = [];
  for (const { path } of files) {
    if (isObeyed(path)) continue;
    const fault = copyFile(workDir, path, join(target, path));
    if (fault === undefined) copied.push(path);
    else faults.push(`\`${path}\`: ${fault}`);
  }
  return { copied, left, diagnostics: faults.length > 0 ? [reportFaults(faults, workDir)] : [] };
}

/** Why it couldn't be done. Listed after the run had ended, but checked again, because the name came from the run. */
function copyFile(workDir: string, path: string, file: string): string | undefined {
  try {
    const fault = withContained(openContained(workDir, path), ({ realPath }) => {
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(realPath, file, constants.COPYFILE_FICLONE);
      chmodSync(file, statSync(realPath).mode & 0o777); // Without setuid and setgid.
    });
    return fault?.message;
  } catch (fault) {
    return (fault as Error).message;
  }
}

function reportFaults(faults: readonly string[], workDir: string): Diagnostic {
  const files = faults.length === 1 ? "A file" : `${faults.length} files`;
  return {
    code: "run.copy-failed",
    severity: "error",
    path: workDir,
    message: `${files} could not be copied. ${faults[0]}`,
    hint: "The work folder is kept: choose another folder for `--out`, or copy them from there.",
  };
}

const OBEYED: ReadonlySet<string> = new Set([".git", ...PROTECTED_NAMES]);

/** Also below other folders, and in any case: some file systems ignore it. */
function isObeyed(path: string): boolean {
  return path.split("/").some((name) => OBEYED.has(name.toLowerCase()));
}

/**
 * What is there after a run: what it left in its work folder, and where its skill keeps data over its runs, its updates and
 * its removal. A skill that nobody vouched for, or that came with a project, never sees another's data of its name.
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
  /** What every run of the skill may read, and none may write. Beside the others, so that it is found from there. */
  readonly global: string;
}

export interface DataOwner {
  readonly skill: Pick<Skill, "name" | "scope" | "directory" | "location" | "locked" | "source">;
  /** Of this use: what a skill does for a caller it must not trust is kept apart. */
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

/** Made where they are missing. A disk that takes no folder is a diagnostic, and the skill has no data then. */
export function makeDataFolders(places: Pick<Places, "data">, owner: DataOwner): FoundData {
  const folders = dataFolders(places, owner);
  try {
    for (const folder of [folders.own, folders.global]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folders, diagnostics: [] };
  } catch (fault) {
    const message = `Skill \`${owner.skill.name}\` has no data folder: ${(fault as Error).message}.`;
    const hint = forReader({
      command: "Make the folder writable for you, or choose another home with `--home`.",
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
  // An installed skill has another folder after each update, and keeps its data; one of another source gets none of it.
  if (locked && !locked.linked)
    return distinctName(name, `${realPathOr(locked.lock)}\0${name}\0${locked.origin}`);
  if (source) return distinctName(name, `source\0${source.source}\0${source.id}`);
  // The name of a server's skill is its own, and its folder another after each change.
  return distinctName(name, location === "" || scope === "remote" ? name : realPathOr(directory));
}

/** Whose values a skill's store has: those of one user, of runs without a user, or of everybody. */
export interface StoreOptions {
  /** The `userId` of a caller. Default: what runs without a user have. */
  readonly user?: string;
  /** What every run of the skill may read, whoever the user is, and none may change. */
  readonly global?: boolean;
}

/** Each value is kept in a file of its own in the skill's data folder, so that scripts and other processes see it. */
export interface SkillStore {
  /** `undefined` when there is none. */
  get(key: string): Json | undefined;
  /** Throws `UsageError` for what cannot be kept: no JSON, or too large. */
  set(key: string, value: Json): void;
  /** Whether there was one. */
  delete(key: string): boolean;
  /** By key. */
  all(): Readonly<Record<string, Json>>;
  /** Removes every value. */
  clear(): void;
  /** One for each value that could not be read and was set aside. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The key-value store of a skill, as an embedding program has it: of one user, of runs without one, or of all users. */
export function openSkillStore(
  places: Pick<Places, "data">,
  skill: Skill,
  options: StoreOptions = {},
): SkillStore {
  const { user, global = false } = options;
  if (global && user !== undefined) {
    throw new UsageError("A store is of one user or of all: give `user` or `global`, not both.");
  }
  const folders = dataFolders(places, { skill, trust: skill.trust.level, user });
  const diagnostics: Diagnostic[] = [];
  const values = openKeyValues(global ? folders.global : folders.own, (path, reason) => {
    const message = `A value of \`${skill.name}\` cannot be read: ${reason}.`;
    const hint = `It was set aside as \`${path}.corrupt\`.`;
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

/** What a run left in its work folder: regular files with their sizes, sorted, bounded; and how much is not listed. */
export function listWorkFiles(workDir: string): WorkFiles {
  const listing = listFiles(workDir, MAX_ENTRIES);
  if (!listing.ok) {
    return { files: [], diagnostics: [unlisted(workDir, `None of its files is listed: ${listing.detail}.`)] };
  }
  const all = listing.files.filter(({ kind }) => kind === "file");
  const files = all.slice(0, MAX_LISTED).map(({ path }) => {
    const size = lstatSync(join(workDir, path), { throwIfNoEntry: false })?.size ?? 0;
    return { path, size };
  });
  const left = all.length - files.length;
  const message = `It left ${all.length} files; the last ${left} of them are not listed, nor copied by \`--out\`.`;
  return { files, diagnostics: left > 0 ? [unlisted(workDir, message)] : [] };
}

function unlisted(path: string, message: string): Diagnostic {
  return {
    code: "run.files-unlisted",
    severity: "warning",
    path,
    message,
    hint: "The work folder itself is kept: take them from there.",
  };
}

interface CopiedFiles {
  readonly copied: readonly string[];
  /** Those that other programs would obey. */
  readonly left: readonly string[];
  /** One for all that could not be copied. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * `--out`: what a run left in its work folder, copied to a folder of the user's. Only regular files; links stay behind, and
 * so does what other programs would obey there (`.git/hooks`, `.envrc`): a run must not act outside its sandbox later.
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

/** Why it could not be done. Listed after the run had ended; checked again, since the name came from the run. */
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
    hint: "The work folder itself is kept: name another folder for `--out`, or take them from there.",
  };
}

const OBEYED: ReadonlySet<string> = new Set([".git", ...PROTECTED_NAMES]);

/** Also below other folders, and in any letter case: some file systems ignore it. */
function isObeyed(path: string): boolean {
  return path.split("/").some((name) => OBEYED.has(name.toLowerCase()));
}

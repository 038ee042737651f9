/** The folder of one run: new, with the eval's files in it; afterwards, what the run made there. */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, lstatSync, mkdirSync, readFileSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFiles } from "../host/list-files.ts";
import { openContained, withContained } from "../host/open-contained.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { RunResult } from "../run/run-result.ts";
import type { InputFile } from "./eval-set.ts";

const MOST_INPUTS = 1000;

export interface Workspace {
  readonly folder: string;
  /** Paths of the input files. */
  readonly inputs: readonly string[];
  /** Of the files that are there afterwards, those that a run made or changed. */
  changed(files: RunResult["files"]): RunResult["files"];
}

export type WorkspaceOutcome =
  | { readonly ok: true; readonly workspace: Workspace }
  | { readonly ok: false; readonly message: string };

/** Makes `folder`, and copies files of the skill into it. */
export function makeWorkspace(
  folder: string,
  skillDirectory: string,
  files: readonly InputFile[],
): WorkspaceOutcome {
  mkdirSync(folder, { recursive: true });
  const real = realPathOr(skillDirectory);
  const before = new Map<string, string>();
  for (const { source, target } of files.flatMap((file) => expandFolder(real, file))) {
    const fault = withContained(openContained(real, source), ({ realPath }) => {
      const copy = join(folder, target);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(realPath, copy);
      before.set(target, digestOf(copy));
    });
    if (fault) return { ok: false, message: `An input file cannot be copied: ${fault.message}` };
  }
  const changed: Workspace["changed"] = (left) =>
    left.filter(({ path }) => !before.has(path) || before.get(path) !== digestOf(join(folder, path)));
  return { ok: true, workspace: { folder, inputs: [...before.keys()], changed } };
}

/** A folder stands for everything in it. */
function expandFolder(real: string, { source, target }: InputFile): readonly InputFile[] {
  const folder = join(real, source);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [{ source, target }];
  const listing = listFiles(folder, MOST_INPUTS);
  if (!listing.ok) return [{ source, target }]; // Which cannot be opened as a file, and is said so.
  return listing.files.map(({ path }) => ({ source: `${source}/${path}`, target: `${target}/${path}` }));
}

/** For a check that may change things: folders and regular files, no links. */
export function copyWorkspace(folder: string, target: string): void {
  const filter = (path: string): boolean => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && (stats.isDirectory() || stats.isFile());
  };
  cpSync(folder, target, { recursive: true, filter });
}

export type WorkspaceText =
  | { readonly ok: true; readonly text: string; readonly isCut: boolean }
  | { readonly ok: false; readonly message: string };

/** A file that a run left, by a path that someone wrote. */
export function readWorkspaceFile(folder: string, path: string, mostBytes: number): WorkspaceText {
  const read = withContained(openContained(realPathOr(folder), path), ({ descriptor, stats }) => {
    const bytes = Buffer.alloc(Math.min(Number(stats.size), mostBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    return { text: bytes.toString("utf8", 0, length), isCut: stats.size > BigInt(mostBytes) };
  });
  return "message" in read ? { ok: false, message: read.message } : { ok: true, ...read };
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

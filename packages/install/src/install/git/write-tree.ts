/**
 * Writes git objects as plain files, byte for byte: no checkout, so no filter, line ending conversion or anything else
 * that a `.gitattributes` could request, and nothing of the repository runs.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { done, type Result } from "@metier/base/result";
import { SKILL_FILE } from "@metier/skills";
import type { FetchContext } from "../fetch-source.ts";
import { faulty, type InstallFault, type InstallFaultCode, limited } from "../install-fault.ts";
import { MAKE_HERE } from "../tree-maker.ts";
import { createTreeWriter } from "../tree-writer.ts";
import { describeObjectFault, type GitObjects } from "./git-objects.ts";
import type { TreeEntry } from "./list-tree.ts";

const NARROW = "name the path of one skill in the address, so that only that is fetched.";
const HINTS: Readonly<Partial<Record<InstallFaultCode, string>>> = {
  "source.unsafe": `Nothing was installed. Tell its author; if this is not part of the skill you want, ${NARROW}`,
  "source.limited": `Nothing was installed. If it holds more than the skill you want, ${NARROW}`,
};
const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;
const MAX_POINTER_BYTES = 1024;

type WriteContext = Pick<FetchContext, "limits" | "onTold" | "onFound" | "startOver" | "makerOf">;

/** A tree that is being written. */
export interface StartedTree {
  readonly folder: string;
  /** By path. */
  readonly written: ReadonlyMap<string, TreeEntry>;
  /** Throws `RefusedTree` for what is not allowed. */
  write(entry: TreeEntry, content: Buffer): void;
  /** Everything in the folder of a skill is written, or will be: says so now, and again when it is there. */
  tellSkill(path: string): void;
  /** Creates the links; returns notes, without errors. */
  finish(): Promise<readonly Diagnostic[]>;
}

/** Makes the folder. `count`: about how many entries there will be. */
export function startTree(folder: string, count: number, context: WriteContext): StartedTree {
  const { limits, makerOf, onTold, onFound } = context;
  mkdirSync(folder);
  const maker = makerOf?.(count) ?? MAKE_HERE;
  const writer = createTreeWriter(folder, limits, maker);
  const written = new Map<string, TreeEntry>();
  const pointers: Diagnostic[] = [];
  return {
    folder,
    written,
    write(entry, content) {
      const { kind, path, executable } = entry;
      written.set(path, entry);
      if (kind === "link") writer.addLink(path, content.toString("utf8"));
      else writer.addBytes(path, executable, content);
      if (isLfsPointer(content)) pointers.push(warn(entry, folder, POINTER));
    },
    tellSkill(path) {
      onTold?.(join(folder, path));
      maker.whenMade(() => onFound?.(join(folder, path)));
    },
    async finish() {
      await maker.finish();
      return [...pointers, ...writer.finish()];
    },
  };
}

/**
 * `objects` are those of `entries`, from the repository at `url`. `started` is used if it has exactly these, otherwise a
 * new tree is written to `into`, which does not exist yet.
 */
export async function writeTree(
  { ask }: GitObjects,
  url: string,
  entries: readonly TreeEntry[],
  into: string,
  context: WriteContext,
  started?: StartedTree,
): Promise<
  Result<Pick<StartedTree, "folder"> & { readonly diagnostics: readonly Diagnostic[] }, InstallFault>
> {
  const { limits } = context;
  const files = entries.filter(({ kind }) => kind !== "submodule");
  try {
    if (files.length > limits.files)
      throw limited(`It has ${files.length} files; the limit is ${limits.files}.`);
    const isThere = started !== undefined && hasAll(started, files);
    if (!isThere) await context.startOver?.();
    const tree = isThere ? started : startTree(into, files.length, context);
    if (!isThere) await writeFiles(ask, files, tree, limits.fileBytes);
    const { folder } = tree;
    const submodules = entries.filter(({ kind }) => kind === "submodule");
    const leftOut = submodules.map((entry) => warn(entry, folder, SUBMODULE));
    const notes = inTreeOrder(await tree.finish(), entries, folder);
    return done({ folder, diagnostics: [...leftOut, ...notes] });
  } catch (thrown) {
    const { refusal } = describeObjectFault(thrown, url);
    return faulty(refusal.code, refusal.message, HINTS[refusal.code] ?? refusal.hint);
  }
}

async function writeFiles(
  ask: GitObjects["ask"],
  files: readonly TreeEntry[],
  { write, tellSkill }: StartedTree,
  maxBytes: number,
): Promise<void> {
  const folders = watchFolders(tellSkill);
  let next = 0;
  const place = (content: Buffer): void => {
    const entry = files[next++];
    if (entry === undefined) return;
    write(entry, content);
    folders.pass(entry);
  };
  const ids = files.map(({ id }) => id);
  await ask("blob", ids, maxBytes, place);
}

/** All of these, and nothing else. */
function hasAll({ written }: StartedTree, files: readonly TreeEntry[]): boolean {
  const isSame = (entry: TreeEntry): boolean => {
    const { kind, executable, id } = written.get(entry.path) ?? {};
    return kind === entry.kind && executable === entry.executable && id === entry.id;
  };
  return written.size === files.length && files.every(isSame);
}

/** Files may have been written in any order. */
function inTreeOrder(
  notes: readonly Diagnostic[],
  entries: readonly TreeEntry[],
  folder: string,
): readonly Diagnostic[] {
  if (notes.length < 2) return notes;
  const places = new Map(entries.map(({ path }, index) => [join(folder, path), index]));
  return notes.toSorted((a, b) => (places.get(a.path) ?? 0) - (places.get(b.path) ?? 0));
}

/** Entries are sorted, so a folder's entries are adjacent: when another one comes, it is complete. */
function watchFolders(onWhole: (path: string) => void): { pass(entry: TreeEntry): void } {
  /** With its slash; for nested skills, the outer one. */
  let skill: string | undefined;
  let links: string | undefined;
  return {
    pass({ path, kind }) {
      if (skill !== undefined && !path.startsWith(skill)) {
        // Links are created last.
        if (!links?.startsWith(skill)) onWhole(skill.slice(0, -1));
        skill = undefined;
      }
      if (kind === "link") links = path;
      if (skill === undefined && path.endsWith(`/${SKILL_FILE}`)) skill = path.slice(0, -SKILL_FILE.length);
    },
  };
}

function isLfsPointer(content: Buffer): boolean {
  return content.length <= MAX_POINTER_BYTES && LFS_POINTER.test(content.toString("latin1"));
}

const SUBMODULE = {
  code: "tree.submodule",
  message: "is a submodule (another repository) and was left out.",
  hint: "If the skill needs it, install from a repository that contains the files themselves.",
} as const;
const POINTER = {
  code: "tree.lfs-pointer",
  message: "is stored in Git LFS; only its pointer was fetched.",
  hint: "If the skill needs it, ask its author to store the file in the repository itself.",
} as const;

function warn({ path }: TreeEntry, into: string, what: typeof SUBMODULE | typeof POINTER): Diagnostic {
  const message = `${showPath(path)} ${what.message}`;
  return { ...what, severity: "warning", path: join(into, path), message };
}

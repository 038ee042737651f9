/**
 * Lists what a commit contains from its trees, level by level; never by a checkout. Bounded by what is read and by the
 * result: a few small trees that contain each other many times make an endless list.
 */
import { isUtf8 } from "node:buffer";
import { dirname } from "node:path";
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";
import { damaged, faulty, type InstallFault, RefusedTree, unsafe } from "../install-fault.ts";
import { type AskForObjects, describeObjectFault, type GitObjects, SHA1_LENGTH } from "./git-objects.ts";

export interface TreeEntry {
  readonly kind: "file" | "link" | "submodule";
  readonly executable: boolean;
  readonly id: string;
  /** From the root of the repository. */
  readonly path: string;
}

const MAX_LISTING_BYTES = 64 * 1024 * 1024;
const MAX_COMMIT_BYTES = 1024 * 1024;
/** Far more than any path that a system could hold. */
const MAX_LEVELS = 2048;

/** What the commit has at `path`, a folder or a file, in git's order; `""` is the whole tree. */
export async function listTree(
  { ask }: GitObjects,
  url: string,
  commit: string,
  path: string,
): Promise<Result<readonly TreeEntry[], InstallFault>> {
  try {
    return choose(flatten(await readTrees(ask, commit)), path, url);
  } catch (thrown) {
    const { refusal } = describeObjectFault(thrown, url);
    const isTooMuch = refusal.code === "source.limited";
    return faulty(refusal.code, refusal.message, isTooMuch ? SMALLER : refusal.hint);
  }
}

const SMALLER = "Install skills from a smaller repository.";

function tooMuch(): RefusedTree {
  return new RefusedTree("source.limited", "It has too many files to list.");
}

export interface Child {
  readonly mode: number;
  readonly id: string;
  /** Latin-1 if it is not UTF-8. */
  readonly name: string;
  readonly isReadable: boolean;
}

interface Trees {
  readonly root: string;
  readonly byId: ReadonlyMap<string, readonly Child[]>;
}

async function readTrees(ask: AskForObjects, commit: string): Promise<Trees> {
  let root = "";
  const asked = ask("commit", [commit], MAX_COMMIT_BYTES, (content) => {
    root = rootOf(content);
  });
  await asked.catch((thrown: unknown) => {
    if (!(thrown instanceof RefusedTree) || root !== "") throw thrown;
    throw damaged(`It did not send the commit \`${commit}\`; it may have changed during the fetch.`);
  });
  if (root.length !== commit.length) throw damaged(`The commit \`${commit}\` has no tree.`);
  const byId = new Map<string, readonly Child[]>();
  let bytes = 0;
  let level: ReadonlySet<string> = new Set([root]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > MAX_LEVELS) throw tooMuch();
    const below = new Set<string>();
    await ask("tree", [...level], MAX_LISTING_BYTES, (content, id) => {
      bytes += content.length;
      if (bytes > MAX_LISTING_BYTES) throw tooMuch();
      const children = readTree(content, id);
      byId.set(id, children);
      for (const child of children) if (isFolder(child)) below.add(child.id);
    });
    level = new Set([...below].filter((id) => !byId.has(id)));
  }
  return { root, byId };
}

const MAX_TREE_LINE = 80;

/** The tree of a commit; empty if it has none. */
export function rootOf(commit: Buffer): string {
  return /^tree ([0-9a-f]+)\n/.exec(commit.toString("latin1", 0, MAX_TREE_LINE))?.[1] ?? "";
}

const [SPACE, NUL] = [0x20, 0];

/**
 * Entries of mode, space, name, NUL and the bytes of an id. A folder is complete with these: no name may lead elsewhere, or
 * to another one of them.
 */
export function readTree(content: Buffer, id: string): readonly Child[] {
  const idBytes = id.length / 2;
  const children: Child[] = [];
  const names = new Set<string>();
  for (let start = 0; start < content.length; ) {
    const space = content.indexOf(SPACE, start);
    const end = content.indexOf(NUL, space);
    const next = end + 1 + idBytes;
    const mode = Number.parseInt(content.toString("latin1", start, space), 8);
    const isWhole = space !== -1 && end > space + 1 && next <= content.length && mode > 0;
    if (!isWhole) throw damaged(`\`${id}\` is not a tree.`);
    const bytes = content.subarray(space + 1, end);
    const isReadable = isUtf8(bytes);
    const name = bytes.toString(isReadable ? "utf8" : "latin1");
    if (names.size === names.add(name).size) throw unsafe(`One of its folders has ${showPath(name)} twice.`);
    if (name === "." || name === ".." || name.includes("/"))
      throw unsafe(`One of its folders has an entry that is called ${showPath(name)}.`);
    children.push({ mode, id: content.toString("hex", end + 1, next), name, isReadable });
    start = next;
  }
  return children;
}

const KIND_BITS = 0o170000;
const [FOLDER, LINK, FILE] = [0o040000, 0o120000, 0o100000];
const OWNER_EXECUTES = 0o100;

export function isFolder({ mode }: Child): boolean {
  return (mode & KIND_BITS) === FOLDER;
}

interface ListedEntry extends TreeEntry {
  readonly isReadable: boolean;
}

/** In tree order, so that a folder's entries are adjacent. */
function flatten({ root, byId }: Trees): readonly ListedEntry[] {
  const entries: ListedEntry[] = [];
  let bytes = 0;
  const add = (tree: string, prefix: string, isReadableAbove: boolean): void => {
    for (const child of byId.get(tree) ?? []) {
      const path = `${prefix}${child.name}`;
      bytes += path.length + SHA1_LENGTH;
      if (bytes > MAX_LISTING_BYTES) throw tooMuch();
      const isReadable = isReadableAbove && child.isReadable;
      if (isFolder(child)) add(child.id, `${path}/`, isReadable);
      else entries.push({ ...entryKindOf(child.mode), id: child.id, path, isReadable });
    }
  };
  add(root, "", true);
  return entries;
}

export function entryKindOf(mode: number): Pick<TreeEntry, "kind" | "executable"> {
  const bits = mode & KIND_BITS;
  const kind = bits === LINK ? "link" : bits === FILE ? "file" : "submodule";
  return { kind, executable: kind === "file" && (mode & OWNER_EXECUTES) !== 0 };
}

function choose(
  entries: readonly ListedEntry[],
  path: string,
  url: string,
): Result<readonly TreeEntry[], InstallFault> {
  const isWanted = (entry: ListedEntry): boolean => entry.path === path || entry.path.startsWith(`${path}/`);
  const wanted = path === "" ? entries : entries.filter(isWanted);
  const unreadable = wanted.find(({ isReadable }) => !isReadable);
  if (unreadable !== undefined) {
    const message = `${showPath(url)} has a file whose name is not UTF-8: ${showPath(unreadable.path)}.`;
    return faulty("source.unsafe", message, "Only the repository's maintainer can rename it.");
  }
  const [first] = wanted;
  if (first === undefined && path !== "") return refusePath(path, entries, url);
  if (first?.path === path && first.kind !== "file") {
    const message = `${showPath(path)} of ${showPath(url)} is a ${first.kind}.`;
    return faulty("source.not_found", message, "Name the folder that it points to.");
  }
  return done(wanted);
}

function refusePath(path: string, entries: readonly TreeEntry[], url: string): Refused<InstallFault> {
  const near = nearestNames(path, new Set(entries.map((entry) => dirname(entry.path))));
  const hint =
    near.length > 0
      ? `Did you mean ${near.map(showPath).join(", ")}?`
      : "Look up the skill's path in the repository.";
  return faulty("source.not_found", `${showPath(url)} has no folder or file ${showPath(path)}.`, hint);
}

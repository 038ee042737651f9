/**
 * Writes the files of a commit while git still receives them. What it wrote counts only if the whole fetch succeeds and it is a
 * part of the commit that was meant; `write-tree.ts` then writes the rest. At the first doubt it writes nothing more.
 */
import { join } from "node:path";
import type { FetchContext } from "../fetch-source.ts";
import { followPack } from "./follow-pack.ts";
import type { ObjectKind } from "./git-objects.ts";
import { type Child, isFolder, kindOf, readTree, rootOf, type TreeEntry } from "./list-tree.ts";
import type { PackObject } from "./pack-reader.ts";
import { SKILL_FILE, type StartedTree, startTree } from "./write-tree.ts";

export interface TreeAhead {
  /** Something may have come. */
  look(): void;
  /** An object that has come. */
  find(kind: ObjectKind, id: string): Buffer | undefined;
  /** What is written; `undefined` if nothing is, or if something in it is refused. */
  started(): StartedTree | undefined;
  close(): void;
}

/** A folder of the commit. */
interface Folder {
  /** With its slash; the root's is empty. */
  readonly prefix: string;
  readonly above?: Folder;
  readonly depth: number;
  /** How many of its entries are not there yet. */
  missing: number;
  hasSkillFile: boolean;
  /** Below it, too. Links are created last. */
  hasLink: boolean;
}

/** Where an object belongs. */
interface Place {
  readonly folder: Folder;
  /** Absent: it is the folder's tree. */
  readonly entry?: TreeEntry;
}

const MOST_PLACES_PER_OBJECT = 4;

/** `repository` is new and its ids are SHA-1; `into` does not exist yet. */
export function writeTreeAhead(repository: string, into: string, context: FetchContext): TreeAhead {
  const { limits, onFound } = context;
  const waiting = new Map<string, Place[]>();
  let tree: StartedTree | undefined;
  let places = 0;
  let isRefused = false;

  const settle = (folder: Folder): void => {
    folder.missing -= 1;
    if (folder.missing > 0) return;
    const { above, prefix } = folder;
    if (above === undefined) return;
    if (isOuterSkill(folder)) tree?.maker.whenMade(() => onFound?.(join(into, prefix.slice(0, -1))));
    above.hasLink ||= folder.hasLink;
    settle(above);
  };
  const expect = (id: string, place: Place): void => {
    places += 1;
    // Trees that contain each other many times make far more places than there are objects.
    if (places > MOST_PLACES_PER_OBJECT * pack.count() || pack.count() > limits.files)
      throw new DoubtfulTree();
    const there = pack.find(place.entry ? "blob" : "tree", id);
    const others = waiting.get(id);
    if (there) fill(place, there, id);
    else if (others) others.push(place);
    else waiting.set(id, [place]);
  };
  const fill = ({ folder, entry }: Place, content: Buffer, id: string): void => {
    if (entry === undefined) {
      const children = readTree(content, id);
      folder.missing = children.length + 1;
      for (const child of children) addChild(folder, child);
    } else {
      tree ??= startTree(into, pack.count(), context);
      tree.write(entry, content);
    }
    settle(folder);
  };
  const addChild = (folder: Folder, child: Child): void => {
    const path = `${folder.prefix}${child.name}`;
    if (!child.isReadable || folder.depth > limits.depth) throw new DoubtfulTree();
    if (isFolder(child)) {
      expect(child.id, { folder: openFolder(`${path}/`, folder) });
      return;
    }
    const entry = { ...kindOf(child.mode), id: child.id, path };
    if (entry.kind === "link") folder.hasLink = true;
    if (child.name === SKILL_FILE) folder.hasSkillFile = true;
    if (entry.kind === "submodule") settle(folder);
    else expect(child.id, { folder, entry });
  };
  const take = ({ kind, id, content }: PackObject): void => {
    if (isRefused) return;
    try {
      // A shallow fetch sends one commit.
      if (kind === "commit") expect(rootOf(content), { folder: openFolder("") });
      const filled = waiting.get(id) ?? [];
      waiting.delete(id);
      for (const place of filled) fill(place, content, id);
    } catch {
      isRefused = true; // Whatever it is, `write-tree.ts` meets it again in the right order, and says so.
    }
  };
  const pack = followPack(repository, take);
  return {
    look: pack.look,
    find: pack.find,
    started: () => (isRefused ? undefined : tree),
    close: pack.close,
  };
}

class DoubtfulTree extends Error {}

function openFolder(prefix: string, above?: Folder): Folder {
  const depth = above ? above.depth + 1 : 0;
  return { prefix, depth, missing: 1, hasSkillFile: false, hasLink: false, ...(above && { above }) };
}

/** Nested skills are part of the outer one. */
function isOuterSkill({ hasSkillFile, hasLink, above }: Folder): boolean {
  if (!hasSkillFile || hasLink) return false;
  for (let folder = above; folder; folder = folder.above) if (folder.hasSkillFile) return false;
  return true;
}

/**
 * Writes the files of a commit while git still receives them. What it wrote counts only if the whole fetch succeeds and it is
 * exactly the commit that was meant; otherwise `write-tree.ts` writes everything anew. At the first doubt it stops.
 */
import { SKILL_FILE } from "@metier/skills";
import type { FetchContext } from "../fetch-source.ts";
import type { SourceLimits } from "../source-limits.ts";
import { followPack } from "./follow-pack.ts";
import type { ObjectKind } from "./git-objects.ts";
import { type Child, entryKindOf, isFolder, readTree, rootOf, type TreeEntry } from "./list-tree.ts";
import type { PackObject } from "./pack-reader.ts";
import { type StartedTree, startTree } from "./write-tree.ts";

export interface TreeAhead {
  /** Something may have come. `isLast`: nothing more comes. */
  look(isLast?: boolean): void;
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
  readonly above: Folder | undefined;
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

/** `repository` is new and its ids are SHA-1; `into` does not exist yet. */
export function writeTreeAhead(repository: string, into: string, context: FetchContext): TreeAhead {
  const { limits } = context;
  let tree: StartedTree | undefined;
  const places = followPlaces(limits, {
    count: () => pack.count(),
    find: (kind, id) => pack.find(kind, id),
    onFile(entry, content) {
      tree ??= startTree(into, pack.count(), context);
      tree.write(entry, content);
    },
    onSkill: (path) => tree?.tellSkill(path),
  });
  // If this stops, `write-tree.ts` finds the problem again and reports it.
  const pack = followPack(repository, limits.files, places.take);
  return {
    look: pack.look,
    find: pack.find,
    started: () => (pack.isStopped() ? undefined : tree),
    close: pack.close,
  };
}

const MOST_PLACES_PER_OBJECT = 4;

interface Objects {
  /** How many will come. */
  count(): number;
  /** One that has come. */
  find(kind: ObjectKind, id: string): Buffer | undefined;
  onFile(entry: TreeEntry, content: Buffer): void;
  /** Everything in the folder of a skill has come. */
  onSkill(path: string): void;
}

/** Where the objects of a commit belong, in whatever order they come. */
function followPlaces(limits: SourceLimits, { count, find, onFile, onSkill }: Objects) {
  const waiting = new Map<string, Place[]>();
  let places = 0;
  let hasCommit = false;

  const expect = (id: string, place: Place): void => {
    const there = find(kindAt(place), id);
    const others = waiting.get(id);
    if (there) fill(place, there, id);
    else if (others) others.push(place);
    else waiting.set(id, [place]);
  };
  const fill = ({ folder, entry }: Place, content: Buffer, id: string): void => {
    if (entry) onFile(entry, content);
    else addChildren(folder, readTree(content, id));
    settle(folder, onSkill);
  };
  const addChildren = (folder: Folder, children: readonly Child[]): void => {
    places += children.length;
    // Trees that contain each other many times make far more places than there are objects.
    const isTooMuch = places > MOST_PLACES_PER_OBJECT * count() || folder.depth > limits.depth;
    if (isTooMuch || !children.every(({ isReadable }) => isReadable)) throw new DoubtfulTree();
    folder.missing += children.length;
    // Known before anything below it is complete.
    folder.hasSkillFile = children.some(isSkillFile);
    for (const child of children) addChild(folder, child);
  };
  const addChild = (folder: Folder, child: Child): void => {
    const path = `${folder.prefix}${child.name}`;
    if (isFolder(child)) {
      expect(child.id, { folder: openFolder(`${path}/`, folder) });
      return;
    }
    const entry = { ...entryKindOf(child.mode), id: child.id, path };
    if (entry.kind === "link") folder.hasLink = true;
    if (entry.kind === "submodule") settle(folder, onSkill);
    else expect(child.id, { folder, entry });
  };
  return {
    take({ kind, id, content }: PackObject): void {
      // A shallow fetch sends one commit.
      if (kind === "commit") {
        if (hasCommit) throw new DoubtfulTree();
        hasCommit = true;
        expect(rootOf(content), { folder: openFolder("") });
      }
      const filled = waiting.get(id) ?? [];
      waiting.delete(id);
      for (const place of filled) {
        if (kind !== kindAt(place)) throw new DoubtfulTree();
        fill(place, content, id);
      }
    },
  };
}

function kindAt({ entry }: Place): ObjectKind {
  return entry ? "blob" : "tree";
}

class DoubtfulTree extends Error {}

function openFolder(prefix: string, above?: Folder): Folder {
  const depth = above ? above.depth + 1 : 0;
  return { prefix, above, depth, missing: 1, hasSkillFile: false, hasLink: false };
}

/** One more of its entries is there; with the last one, it is itself. */
function settle(folder: Folder, onSkill: Objects["onSkill"]): void {
  folder.missing -= 1;
  const { above, prefix } = folder;
  if (folder.missing > 0 || above === undefined) return;
  if (isOuterSkill(folder)) onSkill(prefix.slice(0, -1));
  above.hasLink ||= folder.hasLink;
  settle(above, onSkill);
}

function isSkillFile(child: Child): boolean {
  return child.name === SKILL_FILE && !isFolder(child) && entryKindOf(child.mode).kind !== "submodule";
}

/** Nested skills are part of the outer one, unless that is the root. */
function isOuterSkill({ hasSkillFile, hasLink, above }: Folder): boolean {
  if (!hasSkillFile || hasLink) return false;
  for (let folder = above; folder?.above; folder = folder.above) if (folder.hasSkillFile) return false;
  return true;
}

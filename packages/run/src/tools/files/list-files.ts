/** `list_files`: what is in a folder, or which paths below it match a glob. */
import { posix } from "node:path";
import type { ContainedFault } from "@metier/base/files";
import { compareText } from "@metier/base/text";
import { type FolderEntry, listFolder, type World } from "@metier/sandbox";
import { answer, countSchema, inputSchema, type Tool, textSchema } from "../tool.ts";
import { compilePathGlob, explainFault, printPath } from "./paths.ts";

interface ListInput {
  readonly path?: string;
  readonly pattern?: string;
  readonly depth?: number;
}

const MAX_SHOWN = 1000;
const MAX_PATTERN = 1000;
const MARKS: Readonly<Record<WalkedEntry["kind"], string>> = {
  file: "",
  folder: "/",
  link: " (link)",
  special: " (no file)",
};

export function listFilesTool(): Tool {
  return {
    name: "list_files",
    description:
      "Lists a folder, or with a pattern the files and folders below it that match. Folders end in `/`. `.git` and " +
      "`node_modules` are entered only when they are the path that is asked for.",
    inputSchema: inputSchema({
      path: textSchema("The folder. Default: the working directory."),
      pattern: textSchema(
        "A glob: `*.md` in any folder, or over the path below the folder: `src/**/*.{ts,tsx}`.",
        MAX_PATTERN,
      ),
      depth: countSchema(
        `How many levels of folders. Default: 1, with a pattern ${MAX_DEPTH}.`,
        1,
        MAX_DEPTH,
      ),
    }),
    effect: "read",
    async execute(input, { world }) {
      const { path = ".", pattern, depth = pattern === undefined ? 1 : MAX_DEPTH } = input as ListInput;
      const walk = walkWorld(world, path, depth);
      if (!walk.ok) return explainFault(world, path, walk);
      const isWanted = pattern === undefined ? () => true : compilePathGlob(pattern);
      const found = walk.entries.filter((entry) => isWanted(entry.path));
      const notes = [
        ...(found.length === 0 ? [pattern === undefined ? "the folder is empty" : "nothing matches"] : []),
        ...(found.length > MAX_SHOWN ? [`the first ${MAX_SHOWN} of ${found.length}: ask for less`] : []),
        ...walk.left,
      ];
      const lines = found.slice(0, MAX_SHOWN).map((entry) => {
        return printPath(posix.join(path, entry.path)) + MARKS[entry.kind];
      });
      return answer([...(notes.length > 0 ? [`[${notes.join("; ")}]`] : []), ...lines].join("\n"));
    },
  };
}

interface WalkedEntry {
  /** Below the folder, with `/` between names. */
  readonly path: string;
  readonly kind: FolderEntry["kind"];
}

export interface Walk {
  readonly ok: true;
  /** Sorted by path. */
  readonly entries: readonly WalkedEntry[];
  /** Sentences about what is not in `entries`. */
  readonly left: readonly string[];
}

export const MAX_DEPTH = 20;
const MAX_ENTRIES = 20_000;
/** Large and rarely meant: entered only when they are asked for by name. */
const NOT_ENTERED = new Set([".git", "node_modules"]);

/** What lies below a folder as the run sees it: breadth first, links not followed, within bounds. */
export function walkWorld(world: World, folder: string, maxDepth: number): Walk | ContainedFault {
  const top = listFolder(world, folder);
  if (!top.ok) return top;
  const entries: WalkedEntry[] = [];
  const left = new Set<string>();
  for (const entry of entriesBelow(world, folder, maxDepth, left)) {
    if (entries.length === MAX_ENTRIES) {
      left.add(`more than ${MAX_ENTRIES} entries: the rest was not looked at`);
      break;
    }
    entries.push(entry);
  }
  return { ok: true, entries: entries.sort((a, b) => compareText(a.path, b.path)), left: [...left].sort() };
}

function* entriesBelow(
  world: World,
  folder: string,
  maxDepth: number,
  left: Set<string>,
): Iterable<WalkedEntry> {
  const pending = [{ path: "", depth: 1 }];
  for (const { path, depth } of pending) {
    const listed = listFolder(world, path === "" ? folder : `${folder}/${path}`);
    if (!listed.ok) {
      left.add("some folders cannot be read");
      continue;
    }
    for (const { name, kind } of listed.entries) {
      const below = path === "" ? name : `${path}/${name}`;
      yield { path: below, kind };
      const isEntered = kind === "folder" && depth < maxDepth;
      if (isEntered && NOT_ENTERED.has(name)) left.add(`\`${name}\` was not entered`);
      else if (isEntered) pending.push({ path: below, depth: depth + 1 });
    }
  }
}

/** `list_files`: what is in a folder, or which paths below it match a glob. */
import { posix } from "node:path";
import { answer, type Tool } from "../tool.ts";
import { explainFault } from "./explain-fault.ts";
import { compilePathGlob } from "./path-glob.ts";
import { printPath } from "./print-path.ts";
import { MAX_DEPTH, type WalkedEntry, walkWorld } from "./walk-world.ts";

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
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The folder. Default: the working directory." },
        pattern: {
          type: "string",
          minLength: 1,
          maxLength: MAX_PATTERN,
          description:
            "A glob: `*.md` in any folder, or over the path below the folder: `src/**/*.{ts,tsx}`.",
        },
        depth: {
          type: "integer",
          minimum: 1,
          maximum: MAX_DEPTH,
          description: `How many levels of folders. Default: 1, with a pattern ${MAX_DEPTH}.`,
        },
      },
      additionalProperties: false,
    },
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

/** `grep_search`: lines that match a regular expression, in a file or in the files below a folder. */
import { posix } from "node:path";
import { withContained } from "../../host/open-contained.ts";
import type { World } from "../../sandbox/world.ts";
import { openForReading } from "../../sandbox/world-path.ts";
import { answer, type Tool } from "../tool.ts";
import { explainFault } from "./explain-fault.ts";
import { compilePathGlob } from "./path-glob.ts";
import { printPath } from "./print-path.ts";
import { type FoundLine, searchFiles } from "./search-files.ts";
import { MAX_DEPTH, type Walk, walkWorld } from "./walk-world.ts";

interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignore_case?: boolean;
  readonly max_results?: number;
}

const DEFAULT_RESULTS = 100;
const MAX_RESULTS = 1000;
const MAX_PATTERN = 1000;
const MAX_SHOWN = 300;
/** How much of a long line is shown before the match. */
const BEFORE_MATCH = 100;

export function grepSearchTool(): Tool {
  return {
    name: "grep_search",
    description:
      "Searches files line by line for a regular expression (RE2: no look-around, no back-references) and returns " +
      "`path:line: text`. Binary files, `.git` and `node_modules` are left out.",
    inputSchema: {
      type: "object",
      properties: {
        pattern: {
          type: "string",
          minLength: 1,
          maxLength: MAX_PATTERN,
          description: "The regular expression.",
        },
        path: {
          type: "string",
          minLength: 1,
          description: "A file or folder. Default: the working directory.",
        },
        glob: {
          type: "string",
          minLength: 1,
          maxLength: MAX_PATTERN,
          description: "Only files that match, as `*.ts` or `src/**/*.{ts,tsx}`.",
        },
        ignore_case: { type: "boolean", description: "Whether letter case does not matter. Default: false." },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `How many lines at most. Default: ${DEFAULT_RESULTS}.`,
        },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    effect: "read",
    async execute(input, { world, signal }) {
      const wanted = input as unknown as GrepInput;
      const {
        path = ".",
        glob,
        ignore_case: ignoreCase = false,
        max_results: maxResults = DEFAULT_RESULTS,
      } = wanted;
      const walk = isFile(world, path) ? ONE_FILE : walkWorld(world, path, MAX_DEPTH);
      if (!walk.ok) return explainFault(world, path, walk);
      const isWanted = glob === undefined ? () => true : compilePathGlob(glob);
      const files = walk.entries
        .filter((entry) => entry.kind === "file" && isWanted(entry.path || posix.basename(path)))
        .map((entry) => posix.join(path, entry.path));
      const { compileLinePattern } = await import("./line-pattern.ts"); // with its engine
      const pattern = compileLinePattern(wanted.pattern, ignoreCase);
      const { found, left } = await searchFiles({ world, files, pattern, maxResults, signal });
      const notes = [
        ...(pattern.note ? [pattern.note] : []),
        ...(files.length === 0
          ? ["there is no file to search"]
          : found.length === 0
            ? ["nothing matches"]
            : []),
        ...walk.left,
        ...left,
      ];
      const lines = found.map(renderLine);
      return answer([...(notes.length > 0 ? [`[${notes.join("; ")}]`] : []), ...lines].join("\n"));
    },
  };
}

/** What the path itself names. */
const ONE_FILE: Walk = { ok: true, entries: [{ path: "", kind: "file" }], left: [] };

function isFile(world: World, path: string): boolean {
  return withContained(openForReading(world, path), () => true) === true;
}

function renderLine({ file, line, text, at }: FoundLine): string {
  const start = text.length > MAX_SHOWN && at > BEFORE_MATCH ? at - BEFORE_MATCH : 0;
  const end = Math.min(text.length, start + MAX_SHOWN);
  const shown = `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
  return `${printPath(file)}:${line}: ${shown}`;
}

/** `grep_search`: lines that match a regular expression, in a file or in the files below a folder. */
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { withContained } from "@metier/base/files";
import { openForReading, type World } from "@metier/sandbox";
import {
  answer,
  countSchema,
  inputSchema,
  type Tool,
  type ToolContext,
  type ToolOutput,
  textSchema,
} from "../tool.ts";
import type { LinePattern } from "./line-pattern.ts";
import { MAX_DEPTH, type Walk, walkWorld } from "./list-files.ts";
import { compilePathGlob, explainFault, printPath } from "./paths.ts";
import { readFrom } from "./read-file.ts";

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
    inputSchema: inputSchema(
      {
        pattern: textSchema("The regular expression.", MAX_PATTERN),
        path: textSchema("A file or folder. Default: the working directory."),
        glob: textSchema("Only files that match, as `*.ts` or `src/**/*.{ts,tsx}`.", MAX_PATTERN),
        ignore_case: { type: "boolean", description: "Whether letter case does not matter. Default: false." },
        max_results: countSchema(`How many lines at most. Default: ${DEFAULT_RESULTS}.`, 1, MAX_RESULTS),
      },
      ["pattern"],
    ),
    effect: "read",
    execute: (input, context) => search(input as unknown as GrepInput, context),
  };
}

async function search(wanted: GrepInput, { world, signal }: ToolContext): Promise<ToolOutput> {
  const {
    path = ".",
    glob,
    ignore_case: ignoreCase = false,
    max_results: maxResults = DEFAULT_RESULTS,
  } = wanted;
  const isFile = withContained(openForReading(world, path), () => true) === true;
  const walk = isFile ? ONE_FILE : walkWorld(world, path, MAX_DEPTH);
  if (!walk.ok) return explainFault(world, path, walk);
  const isWanted = glob === undefined ? () => true : compilePathGlob(glob);
  const files = walk.entries
    .filter((entry) => entry.kind === "file" && isWanted(entry.path || posix.basename(path)))
    .map((entry) => posix.join(path, entry.path));
  const { compileLinePattern } = await import("./line-pattern.ts"); // with its engine
  const pattern = compileLinePattern(wanted.pattern, ignoreCase);
  const left = new Set(walk.left);
  const found = await searchFiles({ world, files, pattern, maxResults, signal }, left);
  const notes = [
    ...(pattern.note ? [pattern.note] : []),
    ...(files.length === 0 ? ["there is no file to search"] : found.length === 0 ? ["nothing matches"] : []),
    ...left,
  ];
  const lines = found.map(renderLine);
  return answer([...(notes.length > 0 ? [`[${notes.join("; ")}]`] : []), ...lines].join("\n"));
}

/** What the path itself names. */
const ONE_FILE: Walk = { ok: true, entries: [{ path: "", kind: "file" }], left: [] };

function renderLine({ file, line, text, at }: FoundLine): string {
  const start = text.length > MAX_SHOWN && at > BEFORE_MATCH ? at - BEFORE_MATCH : 0;
  const end = Math.min(text.length, start + MAX_SHOWN);
  const shown = `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
  return `${printPath(file)}:${line}: ${shown}`;
}

interface FoundLine {
  /** As it was asked for. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Where the match begins in `text`. */
  readonly at: number;
}

const MAX_FILE_BYTES: number = 5 * 1024 * 1024;
/** Of a longer line the rest is not searched. */
const MAX_LINE = 50_000;
const MAX_BYTES: number = 64 * 1024 * 1024;
/** Characters times what the pattern costs for each. */
const MAX_STEPS = 1_000_000_000;
/** Others get their turn after so many. */
const STEPS_AT_ONCE = 10_000_000;
const BINARY_SAMPLE = 8192;

interface SearchRequest {
  readonly world: World;
  readonly files: readonly string[];
  readonly pattern: LinePattern;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

/**
 * Searches files line by line within a work budget, so that no pattern and no file tree makes a run wait long. Where
 * the budget ends doesn't depend on the machine's speed. `left` receives sentences about what wasn't searched.
 */
async function searchFiles(request: SearchRequest, left: Set<string>): Promise<readonly FoundLine[]> {
  const { pattern, maxResults, signal } = request;
  const found: FoundLine[] = [];
  let steps = 0;
  let nextTurn = STEPS_AT_ONCE;
  for (const { file, line, text } of linesOf(request, left)) {
    steps += (text.length + 1) * pattern.cost;
    if (steps > MAX_STEPS) {
      left.add(`the search ended in \`${printPath(file)}\`: this pattern takes too long for all of it`);
      break;
    }
    if (steps > nextTurn) {
      nextTurn = steps + STEPS_AT_ONCE;
      await setImmediate();
      if (signal.aborted) {
        left.add("the search was cancelled");
        break;
      }
    }
    const at = pattern.find(text);
    if (at === -1) continue;
    if (found.length === maxResults) {
      left.add(`only the first ${maxResults} results are shown`);
      break;
    }
    found.push({ file, line, text, at });
  }
  return found;
}

function* linesOf({ world, files }: SearchRequest, left: Set<string>): Iterable<Omit<FoundLine, "at">> {
  let bytes = 0;
  for (const file of files) {
    const { content, skipped } = readSearchable(world, file);
    if (skipped !== undefined) left.add(skipped);
    bytes += content.length;
    if (bytes > MAX_BYTES) {
      left.add(`the search ended before \`${printPath(file)}\`, after ${MAX_BYTES} bytes`);
      return;
    }
    const lines = content.split("\n");
    if (lines.at(-1) === "") lines.pop(); // Behind the last line end there is no line.
    for (const [index, whole] of lines.entries()) {
      if (whole.length > MAX_LINE) left.add(`lines were searched up to character ${MAX_LINE}`);
      yield { file, line: index + 1, text: whole.slice(0, MAX_LINE).replace(/\r$/, "") };
    }
  }
}

/** Empty for what is not searched. */
function readSearchable(world: World, file: string): { readonly content: string; readonly skipped?: string } {
  const read = withContained(openForReading(world, file), ({ descriptor, stats }) => {
    if (Number(stats.size) > MAX_FILE_BYTES) {
      return { content: "", skipped: `files of more than ${MAX_FILE_BYTES} bytes were left out` };
    }
    const bytes = readFrom(descriptor, 0, Number(stats.size));
    return { content: bytes.subarray(0, BINARY_SAMPLE).includes(0) ? "" : bytes.toString() };
  });
  return "ok" in read ? { content: "", skipped: "some files cannot be read" } : read;
}

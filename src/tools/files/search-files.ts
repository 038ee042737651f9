/**
 * Searches files line by line within one budget of work, so that no pattern and no tree of files keeps a run waiting
 * for long. Where the budget ends does not depend on the speed of the machine.
 */
import { setImmediate } from "node:timers/promises";
import { withContained } from "../../host/open-contained.ts";
import type { World } from "../../sandbox/world.ts";
import { openForReading } from "../../sandbox/world-path.ts";
import type { LinePattern } from "./line-pattern.ts";
import { printPath } from "./print-path.ts";
import { readFrom } from "./read-lines.ts";

export interface FoundLine {
  /** As it was asked for. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Where the match begins in `text`. */
  readonly at: number;
}

export interface SearchOutcome {
  readonly found: readonly FoundLine[];
  /** Sentences about what was not searched. */
  readonly left: readonly string[];
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

export interface SearchRequest {
  readonly world: World;
  readonly files: readonly string[];
  readonly pattern: LinePattern;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

export async function searchFiles(request: SearchRequest): Promise<SearchOutcome> {
  const { pattern, maxResults, signal } = request;
  const found: FoundLine[] = [];
  const left = new Set<string>();
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
  return { found, left: [...left] };
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

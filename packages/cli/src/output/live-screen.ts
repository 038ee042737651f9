/**
 * A terminal while something goes on: the answer as it comes on stdout, lines about it on stderr, and below them one quiet
 * line that is redrawn in place and gone before anything else is written. The quiet line never stands behind a half-written
 * line of the answer.
 */
import type { CliIo } from "../context.ts";
import { CLEAR, openRedrawnLine } from "./redrawn-line.ts";

export interface LiveScreen {
  /** A piece of the answer; the next one may continue its line. */
  say(text: string): void;
  /** A line beside it. */
  note(line: string): void;
  /** Ends the answer's line, if it is open. */
  closeLine(): void;
  /** The terminal has shown `^C` where the cursor was. */
  interrupted(): void;
  /** While something else writes or asks, such as a question, the quiet line stays away. */
  stepAside<Value>(work: () => Promise<Value>): Promise<Value>;
  /** The quiet line is gone for good. */
  end(): void;
}

/** Between pieces of an answer that comes steadily, a line that comes and goes would only flicker. */
const QUIET_MS = 300;

/** `status`: the quiet line for that many columns; absent, or without a terminal on stderr, there is none. */
export function openLiveScreen(
  { stdout, stderr }: Pick<CliIo, "stdout" | "stderr">,
  status?: (columns: number) => string,
): LiveScreen {
  let isLineOpen = false;
  let asides = 0;
  const isFree = (): boolean => !isLineOpen && asides === 0;
  const stream = status === undefined ? { write: stderr.write } : stderr;
  const text = (columns: number): string => (isFree() ? (status?.(columns) ?? "") : "");
  const quiet = openRedrawnLine(stream, text, { quietMs: QUIET_MS });
  const closeLine = (): void => {
    quiet.clear();
    if (isLineOpen) stdout.write("\n");
    isLineOpen = false;
  };
  return {
    say(text) {
      if (text === "") return;
      quiet.clear();
      stdout.write(text);
      isLineOpen = !text.endsWith("\n");
    },
    note(line) {
      closeLine();
      stderr.write(`${line}\n`);
    },
    closeLine,
    interrupted() {
      if (stderr.isTerminal && !isLineOpen) stderr.write(CLEAR);
      quiet.lost();
      closeLine();
    },
    async stepAside(work) {
      closeLine();
      asides += 1;
      try {
        return await work();
      } finally {
        asides -= 1;
      }
    },
    end: () => quiet.end(),
  };
}

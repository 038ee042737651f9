/**
 * A terminal while work goes on: the streamed answer on stdout, notices on stderr, and below them a status line that
 * is redrawn in place and cleared before anything else is written. The status line never follows a half-written line
 * of the answer.
 */
import type { CliIo } from "../context.ts";
import { CLEAR, openRedrawnLine } from "./redrawn-line.ts";

export interface LiveScreen {
  /** A piece of the answer; the next one may continue its line. */
  say(text: string): void;
  /** A notice line. */
  note(line: string): void;
  /** Ends the answer's line if it is open. */
  closeLine(): void;
  /** The terminal showed `^C` at the cursor. */
  interrupted(): void;
  /** Hides the status line while something else writes or asks. */
  stepAside<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Removes the status line for good. */
  end(): void;
}

/** Between pieces of a steady answer, the status line would only flicker. */
const QUIET_MS = 300;

/** `status` gives the status line for that many columns. Without it, or without a terminal on stderr, there is none. */
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

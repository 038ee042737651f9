/**
 * The one line of a terminal that is redrawn in place while something goes on, and gone before anything else is written.
 * It redraws itself; whoever works without a pause, so that no timer gets its turn, calls `redraw`.
 */
import type { CliStream } from "../context.ts";

export interface RedrawnLine {
  /** Draws what the line says now, unless it was drawn just before. */
  redraw(): void;
  /** Something else is about to be written. */
  clear(): void;
  /** It is gone already: the terminal wrote over it. */
  lost(): void;
  /** It is gone for good. */
  end(): void;
}

/** At most ten redraws a second. */
const REDRAW_MS = 100;
const USUAL_COLUMNS = 80;

/** Also what the terminal itself has written into the line. */
export const CLEAR = "\r\u001b[2K";
/** What is too wide is cut by the terminal instead of taking a second row, which nobody would clear. */
const draw = (line: string): string => `${CLEAR}\u001b[?7l${line}\u001b[?7h`;

interface RedrawnLineOptions {
  /** How long nothing else was written before the line comes: between two pieces of something it would only flicker. */
  readonly quietMs?: number;
  readonly now?: () => number;
}

/** `text`: what the line says, for that many columns; nothing for no line. Without a terminal there is none. */
export function openRedrawnLine(
  stream: CliStream,
  text: (columns: number) => string,
  { quietMs = 0, now = () => performance.now() }: RedrawnLineOptions = {},
): RedrawnLine {
  if (!stream.isTerminal) return NO_LINE;
  let shown = "";
  let wroteAt = now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  const redraw = (): void => {
    const time = now();
    if (time - drawnAt < REDRAW_MS || (shown === "" && time - wroteAt < quietMs)) return;
    const line = text(stream.columns ?? USUAL_COLUMNS);
    if (line === shown) return;
    stream.write(line === "" ? CLEAR : draw(line));
    shown = line;
    drawnAt = time;
  };
  const clear = (): void => {
    if (shown !== "") stream.write(CLEAR);
    shown = "";
    wroteAt = now();
  };
  const timer = setInterval(redraw, REDRAW_MS).unref();
  return {
    redraw,
    clear,
    lost() {
      shown = "";
      wroteAt = now();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

const NO_LINE: RedrawnLine = {
  redraw: () => undefined,
  clear: () => undefined,
  lost: () => undefined,
  end: () => undefined,
};

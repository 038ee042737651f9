/**
 * A terminal line that is redrawn in place while work goes on, and cleared before anything else is written. It redraws
 * itself; code that never yields to timers calls `redraw`.
 */
import type { CliStream } from "../context.ts";

export interface RedrawnLine {
  /** Draws the current text, unless it was drawn just before. */
  redraw(): void;
  /** Called when something else is about to be written. */
  clear(): void;
  /** The line is already gone: the terminal wrote over it. */
  lost(): void;
  /** Removes the line for good. */
  end(): void;
}

/** At most ten redraws per second. */
const REDRAW_MS = 100;
const USUAL_COLUMNS = 80;

/** Also clears what the terminal itself wrote into the line. */
export const CLEAR = "\r\u001b[2K";
/** Lets the terminal cut a line that is too wide; a second row would never be cleared. */
const draw = (line: string): string => `${CLEAR}\u001b[?7l${line}\u001b[?7h`;

interface RedrawnLineOptions {
  /** How long nothing else must be written before the line appears, so that it doesn't flicker. */
  readonly quietMs?: number;
  readonly now?: () => number;
}

/** `text` gives the line for that many columns; an empty text hides it. Without a terminal there is none. */
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

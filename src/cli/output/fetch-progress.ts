/** Slow steps on standard error: a bar that is redrawn in a terminal, else a line for each step. */
import type { FetchProgress } from "../../install/fetch-source.ts";
import type { CliStream } from "../context.ts";
import { cutText, safeLine } from "./style.ts";

export interface FetchProgressView {
  show(step: FetchProgress): void;
  /** Before anything else is written, and at the end. */
  end(): void;
}

const WIDTH = 40;
const BAR = 20;
const CLEAR = "\r\u001b[2K";

export function createFetchProgress(stream: CliStream): FetchProgressView {
  let shown = "";
  if (!stream.isTerminal) {
    return {
      show({ what }) {
        if (what !== shown) stream.write(`${safeLine(what)}\n`);
        shown = what;
      },
      end: () => undefined,
    };
  }
  return {
    show(step) {
      const line = barText(step);
      if (line !== shown) stream.write(`${CLEAR}${line}`);
      shown = line;
    },
    end() {
      if (shown !== "") stream.write(CLEAR);
      shown = "";
    },
  };
}

function barText({ what, done, total }: FetchProgress): string {
  const label = cutText(what, WIDTH);
  if (done === undefined || total === undefined || total <= 0)
    return done === undefined ? label : `${label} ${done}`;
  const share = Math.min(1, Math.max(0, done / total));
  const filled = Math.round(share * BAR);
  return `${label.padEnd(WIDTH)} [${"#".repeat(filled)}${"-".repeat(BAR - filled)}] ${Math.floor(share * 100)}%`;
}

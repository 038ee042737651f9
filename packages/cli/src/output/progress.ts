/**
 * The one line of progress of a long command: redrawn in place on a terminal, with a bar and an estimate where the end is
 * known, and gone before anything else is written. Without a terminal nothing is written.
 */
import type { FetchProgress } from "@metier/install";
import type { CliStream } from "../context.ts";
import { openRedrawnLine, type RedrawnLine } from "./redrawn-line.ts";
import { cutText } from "./style.ts";

export interface ProgressView {
  show(step: FetchProgress): void;
  /** A whole line beside it, which stays. */
  note(line: string): void;
  /** Before anything else is written, and at the end. */
  end(): void;
}

const LABEL = 40;
const BAR = 20;
/** Before that, an estimate jumps about. */
const ESTIMATE_AFTER_MS = 1_000;

export function createProgressLine(
  stream: CliStream,
  now: () => number = () => performance.now(),
): ProgressView {
  let step: FetchProgress | undefined;
  let began = 0;
  const open = (): RedrawnLine =>
    openRedrawnLine(stream, () => (step === undefined ? "" : lineText(step, now() - began)), { now });
  /** Only while there is something to show: nothing else waits for its timer. */
  let line: RedrawnLine | undefined;
  return {
    show(next) {
      if (next.what !== step?.what) began = now();
      step = next;
      line ??= open();
      line.redraw();
    },
    note(text) {
      line?.clear();
      stream.write(`${text}\n`);
    },
    end() {
      line?.end();
      line = undefined;
      step = undefined;
    },
  };
}

function lineText({ what, done, total }: FetchProgress, elapsedMs: number): string {
  const label = cutText(what, LABEL);
  if (done === undefined || total === undefined || total <= 0)
    return done === undefined ? label : `${label} ${done}`;
  const share = Math.min(1, Math.max(0, done / total));
  const filled = Math.round(share * BAR);
  const bar = `[${"#".repeat(filled)}${"-".repeat(BAR - filled)}] ${Math.floor(share * 100)}%`;
  const left =
    elapsedMs < ESTIMATE_AFTER_MS || share === 0 ? "" : leftText((elapsedMs / share) * (1 - share));
  return `${label.padEnd(Math.min(LABEL, 24))} ${bar}${left}`;
}

function leftText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 1) return "";
  return seconds < 90 ? `  about ${seconds} s left` : `  about ${Math.round(seconds / 60)} min left`;
}

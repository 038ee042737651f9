/**
 * The progress line of a long command: redrawn in place, with a bar and an estimate if the end is known, and cleared
 * before anything else is written. Writes nothing without a terminal.
 */
import type { FetchProgress } from "@metier/install";
import type { CliStream } from "../context.ts";
import { openRedrawnLine, type RedrawnLine } from "./redrawn-line.ts";
import { cutText } from "./style.ts";

export interface ProgressView {
  show(step: FetchProgress): void;
  /** Writes a whole line that stays. */
  note(line: string): void;
  /** Called before anything else is written, and at the end. */
  end(): void;
}

const LABEL = 40;
const BAR = 20;
/** Before that, an estimate jumps around. */
const ESTIMATE_AFTER_MS = 1_000;

export function createProgressLine(
  stream: CliStream,
  now: () => number = () => performance.now(),
): ProgressView {
  let step: FetchProgress | undefined;
  let began = 0;
  const open = (): RedrawnLine =>
    openRedrawnLine(stream, () => (step === undefined ? "" : lineText(step, now() - began)), { now });
  /** Runs only while there is something to show, so its timer keeps nothing alive. */
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

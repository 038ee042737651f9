/**
 * A run as a person sees it: in a terminal, the streamed answer, a line for each tool call, and a status line with the
 * time, the current activity and the usage. Without a terminal, only lines on stderr.
 */
import { CancelledError } from "@metier/base/errors";
import { safeLine, safeText, showCost } from "@metier/base/text";
import type { RunResult } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { CliIo } from "../context.ts";
import { type LiveScreen, openLiveScreen } from "./live-screen.ts";
import { createProgress, inputText } from "./run-progress.ts";
import { count, cutText, styleFor } from "./style.ts";

interface RunScreen {
  /** For anything else that is written or asked during the run. */
  readonly io: CliIo;
  onEvent(event: RunEvent): void;
  /** Slow work before a run starts. */
  onProgress(text: string): void;
  /** The user wants the run to stop. */
  stopping(): void;
  /** The run has ended; returns whether its text was already shown. */
  end(result: RunResult): boolean;
  /** Draws nothing from now on. */
  close(): void;
}

interface RunScreenOptions {
  /** No progress: only the answer, questions and problems. */
  readonly quiet: boolean;
  /** Stdout is for a program, so nothing is written here during the run. */
  readonly silent: boolean;
  /** Ctrl-C at a question. */
  onInterrupt(): void;
}

export function openRunScreen(io: CliIo, { quiet, silent, onInterrupt }: RunScreenOptions): RunScreen {
  const style = styleFor(io.color);
  const showsProgress = !quiet && !silent;
  const streams = io.stdout.isTerminal === true && !silent;
  const isLive = io.stderr.isTerminal === true && showsProgress && io.environment.TERM !== "dumb";
  const state = createRunState();
  const screen = openLiveScreen(io, isLive ? (columns) => style.dim(state.line(columns)) : undefined);
  const answer = createAnswer();
  const describe = createProgress((line) => {
    screen.note(io.stderr.isTerminal ? cutStyled(line, io.stderr.columns) : line);
  }, style);
  const stopped = new AbortController();
  const end = (): void => {
    stopped.abort(); // Nobody needs the answer to this question any more.
    screen.end();
  };
  return {
    io: besideScreen(io, screen, { signal: stopped.signal, onInterrupt }),
    onEvent(event) {
      state.note(event);
      if (event.type === "text-delta") {
        if (streams && state.isTop(event)) screen.say(answer.add(event.text));
        return;
      }
      if (event.type === "model-called" && state.isTop(event)) {
        answer.next();
        screen.closeLine();
      }
      // The status line counts the steps.
      const isCounted = isLive && event.type === "model-answered";
      if (showsProgress && !isCounted && !state.isStopping) describe(event);
    },
    onProgress(text) {
      if (!quiet) screen.note(safeText(text));
    },
    stopping() {
      state.isStopping = true;
      screen.interrupted();
    },
    end(result) {
      if (streams) screen.say(answer.rest());
      screen.closeLine();
      end();
      if (isLive && result.iterations > 0) screen.note(style.dim(summaryText(result)));
      return streams && answer.isWhole(result.text);
    },
    close: end,
  };
}

interface Asking {
  /** Nobody needs an answer any more. */
  readonly signal: AbortSignal;
  onInterrupt(): void;
}

/** Writing or asking through this never collides with the status line or an open line of the answer. */
function besideScreen(io: CliIo, screen: LiveScreen, { signal: stopped, onInterrupt }: Asking): CliIo {
  const aside = (write: () => void): void => {
    screen.closeLine();
    write();
  };
  return {
    ...io,
    stdout: { write: (text) => aside(() => io.stdout.write(text)) },
    stderr: { write: (text) => aside(() => io.stderr.write(text)) },
    ask: (question, signal) =>
      screen.stepAside(async () => {
        const taken = signal ? AbortSignal.any([signal, stopped]) : stopped;
        try {
          return await io.ask(question, taken);
        } catch (fault) {
          // Ctrl-C at a question cancels the run, not only the question.
          if (fault instanceof CancelledError && !taken.aborted) onInterrupt();
          throw fault;
        }
      }),
  };
}

interface RunState {
  isStopping: boolean;
  note(event: RunEvent): void;
  /** From the run that answers; it started all others. */
  isTop(event: RunEvent): boolean;
  line(columns: number): string;
}

/** The text of the status line. */
function createRunState(): RunState {
  const startedAt = performance.now();
  const calls = new Map<string, string>();
  let top: string | undefined;
  let step = 0;
  let tokens = 0;
  let cost: number | undefined;
  return {
    isStopping: false,
    isTop: ({ runId }) => runId === top,
    note(event) {
      if (event.type === "run-started" || event.type === "run-resumed") top ??= event.runId;
      if (event.type === "model-called" && event.runId === top) step = event.step;
      if (event.type === "tool-called" && event.decision !== "deny") {
        calls.set(`${event.runId} ${event.callId}`, `${safeLine(event.tool)} ${inputText(event.input)}`);
      }
      if (event.type === "tool-finished") calls.delete(`${event.runId} ${event.callId}`);
      if (event.type === "model-answered") {
        tokens += event.usage.totalTokens;
        if (event.cost !== undefined) cost = (cost ?? 0) + event.cost;
      }
    },
    line(columns) {
      const [call] = [...calls.values()].reverse();
      const facts = [
        `${Math.floor((performance.now() - startedAt) / 1000)} s`,
        ...(step > 0 ? [`step ${step}`] : []),
        ...(tokens > 0 ? [`${tokens} tokens`] : []),
        ...(cost === undefined ? [] : [showCost(cost)]),
        this.isStopping ? "stopping" : (call ?? (step > 0 ? "thinking" : "starting")),
      ];
      return cutText(facts.join(" · "), columns - 1);
    },
  };
}

/** The last line of a run: `2 steps, 1234 tokens, 3.2 s`. */
function summaryText(result: RunResult): string {
  const { cost } = result;
  return [
    count(result.iterations, "step"),
    count(result.usage.totalTokens, "token"),
    ...(cost === undefined ? [] : [showCost(cost)]),
    `${(result.durationMs / 1000).toFixed(1)} s`,
  ].join(", ");
}

interface Answer {
  /** The part that can be shown now. */
  add(text: string): string;
  /** The model is asked again, so a new text starts. */
  next(): void;
  /** The text that was held back. */
  rest(): string;
  /** Whether this is the text that was shown last. */
  isWhole(text: string): boolean;
}

function createAnswer(): Answer {
  let last = "";
  let current = "";
  let held = "";
  return {
    add(text) {
      current += text;
      // Half a character isn't written: the other half comes with the next piece.
      const whole = held + text;
      held = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      return safeText(whole.slice(0, whole.length - held.length));
    },
    next() {
      last = current || last;
      current = "";
    },
    rest() {
      const left = held;
      held = "";
      return safeText(left);
    },
    isWhole: (text) => text.trim() !== "" && (current || last).trim() === text.trim(),
  };
}

/** Cuts a line with colors to one terminal row. */
function cutStyled(line: string, columns: number | undefined): string {
  let left = (columns ?? Number.POSITIVE_INFINITY) - 1;
  const parts = line.split(/(\u001b\[\d+m)/);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return part;
      const characters = [...part];
      const room = Math.max(0, left);
      left -= characters.length;
      if (characters.length <= room) return part;
      return room === 0 ? "" : `${characters.slice(0, room - 1).join("")}…`;
    })
    .join("");
}

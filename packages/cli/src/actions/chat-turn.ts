/**
 * One message and its answer as a person sees them: the prompt, the streamed answer, one dim line for each tool call.
 * Ctrl-C cancels the answer; a second Ctrl-C leaves.
 */
import { CancelledError } from "@metier/base/errors";
import { safeLine, safeText, showCost } from "@metier/base/text";
import type { Chat, ChatOptions, ChatTurn } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { type CliContext, type CliIo, err, listenTwice, STOPPING } from "../context.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import type { MarkdownStream } from "../output/markdown-stream.ts";
import { inputText } from "../output/run-progress.ts";
import { count, cutText, type Style, styleFor } from "../output/style.ts";
import type { ApprovalPlace } from "./ask-approval.ts";
import { type QuestionFlags, questionsFor } from "./run-request.ts";

/** `left`: the user didn't wait for the end. */
export type Teller = (chat: Chat, text: string | typeof COMPACT) => Promise<ChatTurn | "left">;

/** Replaces the chat with a summary instead of sending a message. */
export const COMPACT: unique symbol = Symbol("compact");

interface TurnTeller {
  readonly tell: Teller;
  /** The callbacks a chat needs to report to this screen and ask through it. */
  readonly options: Pick<ChatOptions, "approve" | "askUser" | "confirm" | "onEvent">;
}

interface TellerOptions extends QuestionFlags {
  /** The answer streams to the terminal. */
  readonly streams: boolean;
  readonly markdown?: MarkdownStream | undefined;
}

/** The current turn; each turn has a new signal. */
interface CurrentTurn {
  stop: AbortController;
}

export function createTeller(context: CliContext, options: TellerOptions, place?: ApprovalPlace): TurnTeller {
  const { io } = context;
  const printer = createTurnPrinter(io, styleFor(io.color), options);
  const finish = createFinish(context, options);
  const current: CurrentTurn = { stop: new AbortController() };
  return {
    options: {
      ...questionsFor({ ...context, io: askForTurn(io, printer, current) }, options, place),
      ...(!options.json && { onEvent: (event) => printer.event(event) }),
    },
    async tell(chat, text) {
      const stop = new AbortController();
      current.stop = stop;
      const { signal } = stop;
      const turn = await untilLeft(context, printer, stop, () =>
        text === COMPACT ? chat.compact({ signal }) : chat.send(text, { signal }),
      );
      printer.end();
      if (turn !== "left") finish(turn);
      return turn;
    },
  };
}

/** A turn that stops sooner reports that itself. */
const SAY_STOPPING_AFTER_MS = 500;

/** The first Ctrl-C stops the work, the second leaves. */
async function untilLeft(
  context: CliContext,
  printer: TurnPrinter,
  stop: AbortController,
  work: () => Promise<ChatTurn>,
): Promise<ChatTurn | "left"> {
  const { promise: left, resolve: leave } = Promise.withResolvers<"left">();
  let slow: NodeJS.Timeout | undefined;
  const interrupted = (): void => {
    printer.interrupted();
    stop.abort(new CancelledError());
    slow = setTimeout(() => err(context, STOPPING), SAY_STOPPING_AFTER_MS);
  };
  const { release } = listenTwice(context.io, interrupted, () => {
    printer.interrupted();
    leave("left");
  });
  try {
    return await Promise.race([work(), left]);
  } finally {
    clearTimeout(slow);
    release();
    stop.abort(); // Nobody needs the answer to this question any more.
  }
}

/** A question never interrupts a line of the answer, and Ctrl-C at a question cancels the whole turn. */
function askForTurn(io: CliIo, printer: TurnPrinter, current: CurrentTurn): CliIo {
  return {
    ...io,
    stderr: {
      write(text) {
        printer.closeLine();
        io.stderr.write(text);
      },
    },
    async ask(question) {
      const { stop } = current;
      try {
        return await io.ask(question, stop.signal);
      } catch (fault) {
        if (fault instanceof CancelledError) stop.abort(fault);
        throw fault;
      }
    },
  };
}

/** What to report after an answer. Warnings that apply to all turns are shown once. */
function createFinish(context: CliContext, { json, streams }: TellerOptions): (turn: ChatTurn) => void {
  const style = styleFor(context.io.color);
  const said = new Set<string>();
  return ({ diagnostics, notice, usage, cost }) => {
    if (json) return;
    const fresh = diagnostics
      .map((diagnostic) => diagnosticText(diagnostic, style))
      .filter((text) => !said.has(text));
    for (const text of fresh) said.add(text);
    err(context, fresh.join("\n"));
    if (notice !== undefined) err(context, style.yellow(safeText(notice)));
    if (streams && cost !== undefined) {
      err(context, style.dim(`${count(usage.totalTokens, "token")}, ${showCost(cost)}`));
    }
  };
}

const WIDTH = 100;

interface TurnPrinter {
  event(event: RunEvent): void;
  /** Writes the rest of the answer and ends its line. */
  closeLine(): void;
  /** The terminal shows `^C` at the cursor. */
  interrupted(): void;
  /** Ends the turn: the next output starts on a new line. */
  end(): void;
}

/** With `streams`, writes the answer as it comes; otherwise only tool calls and notices. */
function createTurnPrinter(
  io: CliIo,
  style: Style,
  { streams, markdown }: { readonly streams: boolean; readonly markdown?: MarkdownStream | undefined },
): TurnPrinter {
  /** The run that answers; it started all others. */
  let top: string | undefined;
  let isLineOpen = false;
  const closeLine = (): void => {
    if (markdown) io.stdout.write(markdown.end());
    else if (isLineOpen) io.stdout.write("\n");
    isLineOpen = false;
  };
  const say = (text: string): void => {
    io.stdout.write(markdown ? markdown.push(text) : safeText(text));
    isLineOpen = !text.endsWith("\n");
  };
  const note = (line: string, runId: string): void => {
    closeLine();
    io.stderr.write(`${runId === top ? "" : "  "}${line}\n`);
  };
  return {
    event(event) {
      if (event.type === "run-started") top ??= event.runId;
      if (event.type === "text-delta") {
        if (streams && event.runId === top) say(event.text);
        return;
      }
      const line = describe(event, style);
      if (line !== undefined) note(line, event.runId);
    },
    closeLine,
    interrupted() {
      isLineOpen = true;
      if (markdown) io.stdout.write("\n");
      closeLine();
    },
    end() {
      closeLine();
      top = undefined;
    },
  };
}

function describe(event: RunEvent, style: Style): string | undefined {
  switch (event.type) {
    case "tool-called": {
      if (event.tool === "ask_user" && event.decision !== "deny") return undefined; // The question itself is shown.
      const call = `${safeLine(event.tool)} ${cutText(inputText(event.input), WIDTH)}`;
      return event.decision === "deny"
        ? `${style.yellow("✗")} ${style.dim(`${call}: ${safeLine(event.rule)}`)}`
        : style.dim(`▸ ${call}`);
    }
    case "model-retried":
      return style.yellow(`retrying in ${event.delayMs / 1000} s: ${cutText(event.reason, WIDTH)}`);
    default:
      return undefined;
  }
}

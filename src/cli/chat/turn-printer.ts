/** A turn of a chat as it happens: the answer as it comes, one dim line for each tool call. Skills' own words stay inside. */
import type { RunEvent } from "../../events/run-event.ts";
import type { CliIo } from "../context.ts";
import { inputText } from "../output/run-progress.ts";
import { cutText, type Style, safeLine, safeText } from "../output/style.ts";

const WIDTH = 100;

export interface TurnPrinter {
  event(event: RunEvent): void;
  /** The terminal shows `^C` where the cursor is. */
  interrupted(): void;
  /** The turn is over: the next thing begins on a line of its own. */
  end(): void;
}

export interface PrinterOptions {
  readonly io: Pick<CliIo, "stdout" | "stderr">;
  readonly style: Style;
  /** Whether the answer is written as it comes; otherwise only what happens beside it. */
  readonly streams: boolean;
}

export function createTurnPrinter({ io, style, streams }: PrinterOptions): TurnPrinter {
  /** The run that answers; others were started by it. */
  let top: string | undefined;
  let isLineOpen = false;
  const closeLine = (): void => {
    if (isLineOpen) io.stdout.write("\n");
    isLineOpen = false;
  };
  const say = (text: string): void => {
    io.stdout.write(safeText(text));
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
    interrupted() {
      isLineOpen = true;
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
      return style.yellow(`asking again in ${event.delayMs} ms: ${cutText(event.reason, WIDTH)}`);
    default:
      return undefined;
  }
}

/**
 * The prompt of a chat: a text of one or more lines with an editor, a history and completion. Enter sends it; a backslash at
 * its end, Alt-Enter or Ctrl-J begin another line, and what is pasted is taken as it is. Between two prompts the terminal is
 * left alone, so that Ctrl-C reaches the process and what is typed ahead waits for the next prompt.
 */
import { emitKeypressEvents, type Key } from "node:readline";
import type { CompleteText, LineInput } from "../context.ts";
import { createDrawing, layOut } from "./draw-buffer.ts";
import {
  continueLine,
  type EditBuffer,
  insertText,
  KEY_EDITS,
  moveByLine,
  walkHistory,
} from "./edit-buffer.ts";

export interface LineEditor {
  /** `history` is newest first. */
  read(prompt: string, history: readonly string[], complete?: CompleteText): Promise<LineInput>;
}

/** A terminal, or a stand-in for one. */
type EditorInput = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
type EditorOutput = NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };

/** Terminals that know it mark what is pasted. */
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const CLEAR_SCREEN = "\u001b[H\u001b[2J";

/** The stop comes a moment after it was asked for. */
const RESUME_MS = 20;

/** `stopProcess`: what Ctrl-Z does. Absent: nothing. */
export function createLineEditor(
  input: EditorInput,
  output: EditorOutput,
  stopProcess?: () => void,
): LineEditor {
  return {
    async read(prompt, history, complete) {
      emitKeypressEvents(input);
      const session = createSession(prompt, history, complete, output);
      const typed = new Promise<LineInput>((resolve) => session.onEnd(resolve));
      const onEnd = (): void => session.finish({ kind: "end" });
      const onResize = (): void => session.resize();
      input.on("keypress", session.press);
      input.once("end", onEnd);
      output.on("resize", onResize);
      const take = (): void => {
        input.setRawMode?.(true);
        output.write(PASTE_ON);
        session.draw();
      };
      if (stopProcess)
        session.onSuspend(() => {
          output.write(`${PASTE_OFF}\r\n`);
          input.setRawMode?.(false);
          // It stops here, with whatever started it, and goes on here after `fg`.
          stopProcess();
          setTimeout(take, RESUME_MS);
        });
      take();
      input.resume();
      try {
        return await typed;
      } finally {
        input.pause();
        input.off("keypress", session.press);
        input.off("end", onEnd);
        output.off("resize", onResize);
        output.write(PASTE_OFF);
        input.setRawMode?.(false);
      }
    },
  };
}

interface Session {
  press(text: string | undefined, key: Key): void;
  draw(): void;
  resize(): void;
  onSuspend(listener: () => void): void;
  finish(typed: LineInput): void;
  onEnd(listener: (typed: LineInput) => void): void;
}

function createSession(
  prompt: string,
  history: readonly string[],
  complete: CompleteText | undefined,
  output: EditorOutput,
): Session {
  const drawing = createDrawing();
  const past = walkHistory(history);
  let buffer: EditBuffer = { text: "", cursor: 0 };
  let below: readonly string[] = [];
  let pasted: string | undefined;
  let isSending = false;
  let isOver = false;
  /** Keys that came at once: what was typed ahead, or pasted in a terminal that does not say so. */
  let burst = 0;
  let tell: (typed: LineInput) => void = () => undefined;
  let suspend: (() => void) | undefined;

  const draw = (): void => {
    const { columns = 80, rows = 24 } = output;
    output.write(drawing.draw(layOut(buffer, prompt, columns), below, rows));
  };
  const finish = (typed: LineInput): void => {
    if (isOver) return;
    isOver = true;
    below = [];
    buffer = { text: buffer.text, cursor: buffer.text.length };
    draw();
    output.write("\r\n");
    tell(typed);
  };
  const edit = (next: EditBuffer | undefined): void => {
    if (next !== undefined) buffer = next;
    draw();
  };
  /** The lines that are pasted at once are one text: only what nothing follows is sent. */
  const sendSoon = (): void => {
    const continued = continueLine(buffer);
    isSending = continued === undefined;
    if (continued) edit(continued);
    else {
      setImmediate(() => {
        if (isSending) finish({ kind: "line", text: buffer.text });
      });
    }
  };
  const completeNow = async (): Promise<void> => {
    const before = buffer.text.slice(0, buffer.cursor);
    const completion = await complete?.(before);
    if (completion === undefined || isOver || before !== buffer.text.slice(0, buffer.cursor)) return;
    const { from, choices } = completion;
    const common = commonStart(choices);
    const isOne = choices.length === 1;
    const added = common.slice(before.length - from) + (isOne && !common.endsWith("/") ? " " : "");
    if (common.startsWith(before.slice(from)) && added !== "") edit(insertText(added)(buffer));
    else if (!isOne && choices.length > 0) {
      below = listChoices(choices, output.columns ?? 80);
      draw();
    }
  };
  const paste = (text: string | undefined, { name, sequence }: Key): void => {
    if (name !== "paste-end") pasted += text ?? sequence ?? "";
    else {
      edit(insertText(pasted ?? "")(buffer));
      pasted = undefined;
    }
  };
  const clear = (): void => {
    output.write(CLEAR_SCREEN);
    drawing.forget();
    draw();
  };
  const older = (): void => edit(moveByLine(buffer, "up") ?? past.move(buffer, "older"));
  const newer = (): void => edit(moveByLine(buffer, "down") ?? past.move(buffer, "newer"));
  const newLine = (): void => edit(insertText("\n")(buffer));
  // Ctrl-J; but at the end of a line that was typed ahead it is what the terminal made of Enter.
  const enter = (): void => (burst > 1 ? sendSoon() : newLine());
  const end = (): void => {
    if (buffer.text === "") finish({ kind: "end" });
    else edit(KEY_EDITS.delete?.(buffer));
  };
  const actions: Readonly<Record<string, () => void>> = {
    return: sendSoon,
    enter,
    "ctrl-j": enter,
    "ctrl-c": () => finish({ kind: "interrupt", text: buffer.text }),
    "ctrl-d": end,
    up: older,
    "ctrl-p": older,
    down: newer,
    "ctrl-n": newer,
    tab: () => void completeNow(),
    "ctrl-l": clear,
    "ctrl-z": () => {
      if (suspend) drawing.forget();
      suspend?.();
    },
    "paste-start": () => {
      pasted = "";
    },
  };
  const press = (text: string | undefined, key: Key): void => {
    if (isOver) return;
    noteBurst();
    below = [];
    if (pasted === undefined) act(text, key);
    else paste(text, key);
  };
  const act = (text: string | undefined, key: Key): void => {
    const pressed = nameKey(key);
    const change = KEY_EDITS[pressed];
    if (actions[pressed]) actions[pressed]();
    else if (change) edit(change(buffer));
    else if (text !== undefined && !key.ctrl && !key.meta) edit(insertText(text)(buffer));
  };
  /** Something follows what was to be sent. */
  const noteBurst = (): void => {
    if (burst === 0) {
      setImmediate(() => {
        burst = 0;
      });
    }
    burst += 1;
    if (isSending) buffer = insertText("\n")(buffer);
    isSending = false;
  };
  const onEnd = (listener: typeof tell): void => {
    tell = listener;
  };
  const resize = (): void => {
    drawing.resized(output.columns ?? 80);
    draw();
  };
  const onSuspend = (listener: () => void): void => {
    suspend = listener;
  };
  return { press, draw, resize, finish, onEnd, onSuspend };
}

function nameKey({ name = "", ctrl = false, meta = false }: Key): string {
  return `${ctrl ? "ctrl-" : ""}${meta ? "meta-" : ""}${name}`;
}

function commonStart(choices: readonly string[]): string {
  const [first = "", ...others] = choices;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

const MOST_ROWS = 8;

/** In columns below the prompt. */
function listChoices(choices: readonly string[], columns: number): readonly string[] {
  const width = Math.max(...choices.map((choice) => choice.length)) + 2;
  const across = Math.max(1, Math.floor((columns - 1) / width));
  const rows: string[] = [];
  for (let at = 0; at < choices.length; at += across) {
    rows.push(
      choices
        .slice(at, at + across)
        .map((choice) => choice.padEnd(width))
        .join("")
        .trimEnd(),
    );
  }
  const more = rows.length - MOST_ROWS;
  return more > 0 ? [...rows.slice(0, MOST_ROWS), `… and ${more} more lines`] : rows;
}

/**
 * The prompt of a chat: a multi-line editor with history and completion. Enter sends; a backslash at the end,
 * Alt-Enter or Ctrl-J starts another line; pasted text is taken as it is. Between prompts the terminal is left alone,
 * so that Ctrl-C reaches the process and typed-ahead text waits for the next prompt.
 */
import { emitKeypressEvents, type Key } from "node:readline";
import type { CompleteText, LineInput } from "../context.ts";
import { EditSession } from "./edit-session.ts";

export interface LineEditor {
  /** `history` is newest first. */
  read(prompt: string, history: readonly string[], complete?: CompleteText): Promise<LineInput>;
}

/** A terminal, or a stand-in for one. */
type EditorInput = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
type EditorOutput = NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };

/** Makes terminals that support it mark pasted text. */
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

/** The stop comes a moment after the request. */
const RESUME_MS = 20;

/** `stopProcess`: what Ctrl-Z does. If absent, nothing. */
export function createLineEditor(
  input: EditorInput,
  output: EditorOutput,
  stopProcess?: () => void,
): LineEditor {
  return {
    async read(prompt, history, complete) {
      emitKeypressEvents(input);
      const typed = Promise.withResolvers<LineInput>();
      const take = (): void => {
        input.setRawMode?.(true);
        output.write(PASTE_ON);
        session.draw();
      };
      const suspend = (stop: () => void): void => {
        output.write(`${PASTE_OFF}\r\n`);
        input.setRawMode?.(false);
        // The process stops here, with whatever started it, and continues here after `fg`.
        stop();
        setTimeout(take, RESUME_MS);
      };
      const session = new EditSession({
        ...{ prompt, history, complete, screen: output, onEnd: typed.resolve },
        onSuspend: stopProcess && (() => suspend(stopProcess)),
      });
      const onKey = (text: string | undefined, key: Key): void => session.press(text, key);
      const onEnd = (): void => session.finish({ kind: "end" });
      const onResize = (): void => session.resize();
      input.on("keypress", onKey);
      input.once("end", onEnd);
      output.on("resize", onResize);
      take();
      input.resume();
      try {
        return await typed.promise;
      } finally {
        input.pause();
        input.off("keypress", onKey);
        input.off("end", onEnd);
        output.off("resize", onResize);
        output.write(PASTE_OFF);
        input.setRawMode?.(false);
      }
    },
  };
}

/**
 * The prompt of a chat: one line with an editor and a history. Between two lines the terminal is left alone, so that
 * Ctrl-C reaches the process and what is typed ahead waits for the next prompt.
 */
import { createInterface } from "node:readline";
import type { LineInput } from "../context.ts";

export interface LineEditor {
  /** `history` is newest first. */
  read(prompt: string, history: readonly string[]): Promise<LineInput>;
}

const HISTORY_SIZE = 500;

export function createLineEditor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): LineEditor {
  return {
    async read(prompt, history) {
      const reader = createInterface({
        input,
        output,
        prompt,
        terminal: true,
        history: [...history],
        historySize: HISTORY_SIZE,
      });
      const typed = await new Promise<LineInput>((resolve) => {
        const lines: string[] = [];
        reader.on("line", (line) => {
          lines.push(line);
          // Lines that were pasted come all at once and are one message; its last one may still wait for its end.
          setImmediate(() => {
            if (reader.line === "") resolve({ kind: "line", text: lines.join("\n") });
          });
        });
        reader.on("SIGINT", () => resolve({ kind: "interrupt", text: reader.line }));
        reader.on("close", () => resolve({ kind: "end" }));
        reader.prompt();
      });
      reader.close();
      if (typed.kind !== "line") output.write("\n");
      return typed;
    },
  };
}

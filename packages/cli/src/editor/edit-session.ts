/** One prompt from its first key to its end: the text, what each key does, and what to draw. Knows no terminal. */
import type { Key } from "node:readline";
import type { CompleteText, LineInput } from "../context.ts";
import { addedBy, listChoices } from "./choices.ts";
import { createDrawing, layOut } from "./draw-buffer.ts";
import {
  continueLine,
  type EditBuffer,
  type HistoryWalk,
  insertText,
  KEY_EDITS,
  moveByLine,
  walkHistory,
} from "./edit-buffer.ts";

interface EditScreen {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

interface EditSettings {
  readonly prompt: string;
  /** Newest first. */
  readonly history: readonly string[];
  readonly complete?: CompleteText | undefined;
  readonly screen: EditScreen;
  /** The text, returned once. */
  onEnd(typed: LineInput): void;
  /** Ctrl-Z. If absent, it does nothing. */
  readonly onSuspend?: (() => void) | undefined;
}

const CLEAR_SCREEN = "\u001b[H\u001b[2J";
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export class EditSession {
  readonly #settings: EditSettings;
  readonly #drawing = createDrawing();
  readonly #past: HistoryWalk;
  #buffer: EditBuffer = { text: "", cursor: 0 };
  #below: readonly string[] = [];
  #pasted: string | undefined;
  #isSending = false;
  #isOver = false;
  /** Keys that arrived together: typed ahead, or pasted in a terminal that doesn't mark pastes. */
  #burst = 0;

  constructor(settings: EditSettings) {
    this.#settings = settings;
    this.#past = walkHistory(settings.history);
  }

  press(text: string | undefined, key: Key): void {
    if (this.#isOver) return;
    this.#noteBurst();
    this.#below = [];
    if (this.#pasted === undefined) this.#act(text, key);
    else this.#paste(this.#pasted, text, key);
  }

  draw(): void {
    const { screen, prompt } = this.#settings;
    const { rows = USUAL_ROWS } = screen;
    screen.write(this.#drawing.draw(layOut(this.#buffer, prompt, this.#columns), this.#below, rows));
  }

  resize(): void {
    this.#drawing.resized(this.#columns);
    this.draw();
  }

  finish(typed: LineInput): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#below = [];
    this.#buffer = { text: this.#buffer.text, cursor: this.#buffer.text.length };
    this.draw();
    this.#settings.screen.write("\r\n");
    this.#settings.onEnd(typed);
  }

  get #columns(): number {
    return this.#settings.screen.columns ?? USUAL_COLUMNS;
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    return: () => this.#sendSoon(),
    enter: () => this.#enter(),
    "ctrl-j": () => this.#enter(),
    "ctrl-c": () => this.finish({ kind: "interrupt", text: this.#buffer.text }),
    "ctrl-d": () => this.#deleteOrEnd(),
    up: () => this.#moveUp(),
    "ctrl-p": () => this.#moveUp(),
    down: () => this.#moveDown(),
    "ctrl-n": () => this.#moveDown(),
    tab: () => void this.#complete(),
    "ctrl-l": () => this.#clear(),
    "ctrl-z": () => this.#suspend(),
    "paste-start": () => {
      this.#pasted = "";
    },
  };

  #act(text: string | undefined, key: Key): void {
    const pressed = nameKey(key);
    const action = this.#actions[pressed];
    const change = KEY_EDITS[pressed];
    if (action) action();
    else if (change) this.#edit(change(this.#buffer));
    else if (text !== undefined && !key.ctrl && !key.meta) this.#edit(insertText(text)(this.#buffer));
  }

  #edit(next: EditBuffer | undefined): void {
    if (next !== undefined) this.#buffer = next;
    this.draw();
  }

  /** More keys follow the one that sends. */
  #noteBurst(): void {
    if (this.#burst === 0) {
      setImmediate(() => {
        this.#burst = 0;
      });
    }
    this.#burst += 1;
    if (this.#isSending) this.#buffer = insertText("\n")(this.#buffer);
    this.#isSending = false;
  }

  /** Lines pasted together are one text: only the last one sends. */
  #sendSoon(): void {
    const continued = continueLine(this.#buffer);
    this.#isSending = continued === undefined;
    if (continued) this.#edit(continued);
    else setImmediate(() => this.#sendNow());
  }

  #sendNow(): void {
    if (this.#isSending) this.finish({ kind: "line", text: this.#buffer.text });
  }

  /** Ctrl-J; but at the end of a line typed ahead, it is what the terminal made of Enter. */
  #enter(): void {
    if (this.#burst > 1) this.#sendSoon();
    else this.#edit(insertText("\n")(this.#buffer));
  }

  #deleteOrEnd(): void {
    if (this.#buffer.text === "") this.finish({ kind: "end" });
    else this.#edit(KEY_EDITS.delete?.(this.#buffer));
  }

  #moveUp(): void {
    this.#edit(moveByLine(this.#buffer, "up") ?? this.#past.move(this.#buffer, "older"));
  }

  #moveDown(): void {
    this.#edit(moveByLine(this.#buffer, "down") ?? this.#past.move(this.#buffer, "newer"));
  }

  #paste(before: string, text: string | undefined, { name, sequence }: Key): void {
    this.#pasted = name === "paste-end" ? undefined : before + (text ?? sequence ?? "");
    if (this.#pasted === undefined) this.#edit(insertText(before)(this.#buffer));
  }

  get #beforeCursor(): string {
    return this.#buffer.text.slice(0, this.#buffer.cursor);
  }

  async #complete(): Promise<void> {
    const before = this.#beforeCursor;
    const completion = await this.#settings.complete?.(before);
    // More was typed meanwhile.
    if (completion === undefined || this.#isOver || before !== this.#beforeCursor) return;
    const { from, choices } = completion;
    const added = addedBy(choices, before.slice(from));
    if (added !== "") return this.#edit(insertText(added)(this.#buffer));
    if (choices.length < 2) return;
    this.#below = listChoices(choices, this.#columns);
    this.draw();
  }

  #clear(): void {
    this.#settings.screen.write(CLEAR_SCREEN);
    this.#drawing.forget();
    this.draw();
  }

  #suspend(): void {
    const { onSuspend } = this.#settings;
    if (!onSuspend) return;
    this.#drawing.forget();
    onSuspend();
  }
}

function nameKey({ name = "", ctrl = false, meta = false }: Key): string {
  return `${ctrl ? "ctrl-" : ""}${meta ? "meta-" : ""}${name}`;
}

/** Where the keys of a text stand: offsets while it is read, lines and columns when someone asks. */
import type { Position } from "../../skill/skill.ts";

export class KeyIndex {
  readonly #offsets = new Map<string, number>();
  readonly #text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The first mention of a path counts. */
  add(path: readonly string[], offset: number): void {
    const key = path.join("\0");
    if (!this.#offsets.has(key)) this.#offsets.set(key, offset);
  }

  /** The key, or the nearest table above it that is known. */
  find(path: readonly string[]): Position | undefined {
    for (let length = path.length; length > 0; length--) {
      const offset = this.#offsets.get(path.slice(0, length).join("\0"));
      if (offset !== undefined) return this.positionOf(offset);
    }
    return undefined;
  }

  positionOf(offset: number): Position {
    this.#lineStarts ??= findLineStarts(this.#text);
    const starts = this.#lineStarts;
    let low = 0;
    for (let high = starts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

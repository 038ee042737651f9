/** Strict JSON with positions, which `JSON.parse` gives neither for keys nor for every error. */
import { isTable } from "../value-types.ts";
import { type ConfigDocument, ConfigSyntaxError, KeyIndex, type LocatedValue } from "./config-document.ts";

const MOST_LEVELS = 100;
const BLANK = /[ \t\r\n]*/y;
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

export function parseJsonDocument(text: string): ConfigDocument {
  const { value: values, locate } = parseLocatedJson(text);
  if (!isTable(values))
    throw new ConfigSyntaxError("the file must contain an object", { line: 1, column: 1 });
  return { values, locate };
}

/** Any JSON value. Throws `ConfigSyntaxError`. */
export function parseLocatedJson(text: string): LocatedValue {
  const reader = new JsonReader(text);
  return { value: reader.readDocument(), locate: (path) => reader.keys.find(path) };
}

class JsonReader {
  readonly keys: KeyIndex;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.keys = new KeyIndex(text);
  }

  readDocument(): unknown {
    const value = this.#peek() === undefined ? {} : this.#readValue([]);
    if (this.#peek() !== undefined) this.#fail("nothing may follow the object");
    return value;
  }

  #readValue(path: readonly string[]): unknown {
    if (path.length > MOST_LEVELS) this.#fail(`more than ${MOST_LEVELS} levels`);
    const next = this.#peek();
    if (next === "{") return this.#readObject(path);
    if (next === "[") return this.#readArray(path);
    return JSON.parse(this.#readScalar("a value is missing or malformed here"));
  }

  #readObject(path: readonly string[]): unknown {
    const entries = new Map<string, unknown>();
    this.#readItems("}", () => {
      if (this.#peek() !== '"') this.#fail("a key in double quotes is missing here");
      const start = this.#at;
      const key: string = JSON.parse(this.#readScalar("a key is malformed here"));
      if (entries.has(key)) this.#fail(`the key ${JSON.stringify(key)} appears twice`);
      this.keys.add([...path, key], start);
      this.#take(":");
      entries.set(key, this.#readValue([...path, key]));
    });
    return Object.fromEntries(entries);
  }

  #readArray(path: readonly string[]): unknown {
    const items: unknown[] = [];
    this.#readItems("]", () => {
      const item = [...path, String(items.length)];
      this.#peek();
      this.keys.add(item, this.#at);
      items.push(this.#readValue(item));
    });
    return items;
  }

  /** The comma-separated content between brackets. */
  #readItems(close: string, readItem: () => void): void {
    this.#at++;
    for (let first = true; this.#peek() !== close; first = false) {
      if (!first) this.#take(",");
      readItem();
    }
    this.#at++;
  }

  #readScalar(fault: string): string {
    SCALAR.lastIndex = this.#at;
    const [scalar] = SCALAR.exec(this.#text) ?? this.#fail(fault);
    this.#at += scalar.length;
    return scalar;
  }

  #take(mark: string): void {
    if (this.#peek() !== mark) this.#fail(`\`${mark}\` is missing here`);
    this.#at++;
  }

  /** The next non-blank character; `undefined` at the end. */
  #peek(): string | undefined {
    BLANK.lastIndex = this.#at;
    BLANK.test(this.#text);
    this.#at = BLANK.lastIndex;
    return this.#text[this.#at];
  }

  #fail(detail: string): never {
    throw new ConfigSyntaxError(detail, this.keys.positionOf(this.#at));
  }
}

/**
 * Any value of a program as JSON for a model: including those that JSON can't represent (circular, `bigint`, `Map`,
 * bytes, an error, a getter that throws), and never more than requested.
 */
import { sayFault } from "@metier/base/diagnostic";

interface ShownJson {
  readonly text: string;
  /** There was more. */
  readonly isCut: boolean;
}

/** Deeper than any sensible answer. */
const MOST_LEVELS = 100;

/** Never throws. `most`: characters. */
export function showJson(value: unknown, most: number): ShownJson {
  const writer = new JsonWriter(most);
  writer.write(value);
  const text = writer.parts.join("");
  return { text: text.slice(0, most), isCut: text.length > most };
}

class JsonWriter {
  readonly parts: string[] = [];
  readonly #most: number;
  #length = 0;
  /** The objects that contain the value. */
  readonly #above = new Set<object>();

  constructor(most: number) {
    this.#most = most;
  }

  get #isFull(): boolean {
    return this.#length > this.#most;
  }

  #put(text: string): void {
    this.parts.push(text);
    this.#length += text.length;
  }

  /** Long text is cut before it is quoted: quoting may make it six times longer. */
  #putText(text: string): void {
    this.#put(JSON.stringify(text.length > this.#most ? text.slice(0, this.#most + 1) : text));
  }

  write(given: unknown): void {
    if (this.#isFull) return;
    const value = simplify(given);
    if (typeof value === "string") this.#putText(value);
    else if (typeof value !== "object" || value === null) this.#put(String(value ?? null));
    else if (this.#above.has(value)) this.#put('"[circular]"');
    else if (this.#above.size === MOST_LEVELS) this.#put('"[nested too deeply]"');
    else {
      this.#above.add(value);
      if (isIterable(value)) this.#writeList(value);
      else this.#writeObject(value);
      this.#above.delete(value);
    }
  }

  #writeList(items: Iterable<unknown>): void {
    let isFirst = true;
    this.#put("[");
    try {
      for (const item of items) {
        if (this.#isFull) return;
        if (!isFirst) this.#put(",");
        isFirst = false;
        this.write(isLeftOut(item) ? null : item);
      }
    } catch (error) {
      this.#put(isFirst ? "" : ",");
      this.#putText(unreadable(error));
    }
    this.#put("]");
  }

  #writeObject(value: object): void {
    let isFirst = true;
    this.#put("{");
    for (const key of Object.keys(value)) {
      if (this.#isFull) return;
      const part = readKey(value, key);
      if (isLeftOut(part)) continue;
      if (!isFirst) this.#put(",");
      isFirst = false;
      this.#putText(key);
      this.#put(":");
      this.write(part);
    }
    this.#put("}");
  }
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === "function";
}

/** What replaces a value that JSON doesn't have. */
function simplify(value: unknown): unknown {
  switch (typeof value) {
    case "bigint":
    case "symbol":
      return String(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "function":
      return `[function ${value.name}]`;
    case "object":
      return value === null ? null : simplifyObject(value);
    default:
      return value;
  }
}

function simplifyObject(value: object): unknown {
  try {
    if (value instanceof Uint8Array || value instanceof DataView || value instanceof ArrayBuffer) {
      return describeBytes(value.byteLength);
    }
    if (value instanceof Error) return { name: value.name, message: value.message };
    if (value instanceof Map) return mapEntries(value);
    if (value instanceof Number || value instanceof String || value instanceof Boolean)
      return value.valueOf();
    if (value instanceof RegExp) return String(value);
    const { toJSON } = value as { readonly toJSON?: unknown };
    // Its result is written unchanged, so that one that returns itself ends.
    return typeof toJSON === "function" ? (toJSON.call(value, "") as unknown) : value;
  } catch (error) {
    return unreadable(error);
  }
}

/** An object if every key is a string; else a list of pairs. */
function mapEntries(map: ReadonlyMap<unknown, unknown>): unknown {
  const entries = [...map];
  return entries.every(([key]) => typeof key === "string") ? Object.fromEntries(entries) : entries;
}

function readKey(value: object, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): string {
  return `[cannot be read: ${sayFault(error)}]`;
}

export function describeBytes(bytes: number): string {
  return `[binary data: ${bytes} ${bytes === 1 ? "byte" : "bytes"}]`;
}

/** The header of a message or of one of its parts: fields, unfolded, with one character for each byte. */
import { MAX_HEADER_BYTES, MAX_HEADER_FIELDS } from "./limits.ts";

export interface Header {
  /** The first field of that name, which is in lower case; as it stands there. */
  get(name: string): string | undefined;
  readonly bodyStart: number;
}

const FIELD = /^([!-9;-~]{1,100})[ \t]*:(.*)$/s;

export function readHeader(bytes: Buffer): Header {
  const text = bytes.toString("latin1", 0, MAX_HEADER_BYTES);
  const fields: [name: string, value: string][] = [];
  let at = 0;
  while (at < text.length) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 ? text.length : feed;
    const line = text.slice(at, text[end - 1] === "\r" ? Math.max(at, end - 1) : end);
    at = end + 1;
    if (line === "") break;
    const last = fields.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last) last[1] += line;
    } else if (fields.length < MAX_HEADER_FIELDS) {
      const [, name, value] = FIELD.exec(line) ?? [];
      if (name !== undefined && value !== undefined) fields.push([name.toLowerCase(), value]);
    }
  }
  const first = new Map(fields.toReversed().map(([name, value]) => [name, value.trim()]));
  return { get: (name) => first.get(name), bodyStart: Math.min(at, bytes.length) };
}

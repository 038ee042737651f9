/** A structured header such as `Content-Type`: its value and its parameters, RFC 2231 ones included. */
import { decodeCharset } from "./charset.ts";
import { decodeWords } from "./encoded-words.ts";

export interface HeaderValue {
  /** In lower case: `text/plain`, `attachment`. */
  readonly value: string;
  parameter(name: string): string | undefined;
}

/** `; name=value` or `; name="va\"lue"`. Nothing in it can be matched in two ways, so it takes no longer than reading. */
const PARAMETER = /;\s*([^\s=;"]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gs;
const MOST_PARAMETERS = 60;

export function readHeaderValue(raw: string | undefined): HeaderValue {
  const text = raw ?? "";
  const given = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of text.matchAll(PARAMETER)) {
    if (given.size >= MOST_PARAMETERS) break;
    const key = name.toLowerCase();
    if (!given.has(key)) given.set(key, quoted === undefined ? plain : quoted.replace(/\\(.)/gs, "$1"));
  }
  const value = (text.split(";")[0] ?? "").trim().toLowerCase();
  return { value, parameter: (name) => readParameter(given, name) };
}

function readParameter(given: ReadonlyMap<string, string>, name: string): string | undefined {
  const plain = given.get(name);
  if (plain !== undefined) return decodeWords(plain);
  const whole = given.get(`${name}*`);
  if (whole !== undefined) return decodeExtended([[whole, true]]);
  const pieces: [text: string, isExtended: boolean][] = [];
  for (let index = 0; index < MOST_PARAMETERS; index++) {
    const extended = given.get(`${name}*${index}*`);
    const piece = extended ?? given.get(`${name}*${index}`);
    if (piece === undefined) break;
    pieces.push([piece, extended !== undefined]);
  }
  return pieces.length === 0 ? undefined : decodeExtended(pieces);
}

/** The first piece begins with `charset'language'`; bytes above 127 are written `%XX`. */
function decodeExtended(pieces: readonly (readonly [text: string, isExtended: boolean])[]): string {
  const [first] = pieces;
  const [, charset = "", start] = /^([^']{0,60})'[^']{0,60}'(.*)$/s.exec(first?.[0] ?? "") ?? [];
  const bytes = pieces.map(([text, isExtended], index) => {
    const piece = index === 0 && isExtended && start !== undefined ? start : text;
    return isExtended ? decodePercent(piece) : Buffer.from(piece, "latin1");
  });
  return decodeCharset(Buffer.concat(bytes), charset);
}

function decodePercent(text: string): Buffer {
  const decoded = text.replace(/%([0-9A-Fa-f]{2})/g, (_, pair: string) =>
    String.fromCharCode(Number.parseInt(pair, 16)),
  );
  return Buffer.from(decoded, "latin1");
}

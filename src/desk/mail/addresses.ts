/** Who a mail is from and to: the addresses of a header, taken apart before they are decoded. */
import { cleanLine } from "../../disclose/clean-text.ts";
import { decodeWords } from "./encoded-words.ts";
import { MAX_ADDRESSES, MAX_LINE_CHARACTERS } from "./limits.ts";

export interface Address {
  readonly address: string;
  readonly name?: string;
}

const MAX_HEADER_CHARACTERS = 20_000;

export function readAddresses(raw: string | undefined): readonly Address[] {
  return splitAddresses((raw ?? "").slice(0, MAX_HEADER_CHARACTERS))
    .slice(0, MAX_ADDRESSES)
    .map(readAddress)
    .filter(({ address, name }) => address !== "" || name !== undefined);
}

/** At commas, and at the `;` that ends a group; not at those in quotes, brackets or comments. */
function splitAddresses(raw: string): readonly string[] {
  const found: string[] = [];
  let start = 0;
  let quoted = false;
  let depth = 0;
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at] ?? "";
    if (character === "\\") at++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "<" || character === "(") depth++;
    else if (character === ">" || character === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0 && /[,;:]/.test(character)) {
      // What stands before `:` is the name of a group.
      if (character !== ":") found.push(raw.slice(start, at));
      start = at + 1;
    }
  }
  return [...found, raw.slice(start)];
}

function readAddress(raw: string): Address {
  const open = raw.lastIndexOf("<");
  if (open === -1) {
    const [, plain = "", comment = ""] = /^([^(]*)(?:\((.*)\))?/s.exec(raw) ?? [];
    return withName(plain, comment);
  }
  const close = raw.indexOf(">", open);
  const address = raw.slice(open + 1, close === -1 ? undefined : close);
  return withName(address, raw.slice(0, open));
}

function withName(rawAddress: string, rawName: string): Address {
  const address = shortLine(decodeWords(rawAddress)).replaceAll(" ", "");
  const unquoted = rawName
    .trim()
    .replace(/^"(.*)"$/s, "$1")
    .replace(/\\(.)/gs, "$1");
  const name = shortLine(decodeWords(unquoted));
  return name === "" ? { address } : { address, name };
}

export function shortLine(text: string): string {
  return cleanLine(text.slice(0, 4 * MAX_LINE_CHARACTERS)).slice(0, MAX_LINE_CHARACTERS);
}

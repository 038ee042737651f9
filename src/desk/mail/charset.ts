/** Bytes of a mail as text. Charsets are often missing or wrong: what is valid UTF-8 is taken as such. */
import { isUtf8 } from "node:buffer";

/** Labels that say as much as none. */
const VAGUE = /^(?:|us-ascii|ascii|ansi_x3\.4-1968|unknown-8bit|x-unknown|8bit|binary|default)$/i;

export function decodeCharset(bytes: Buffer, label = ""): string {
  const known = VAGUE.test(label) ? undefined : decodeKnown(bytes, label);
  return known ?? guess(bytes);
}

function decodeKnown(bytes: Buffer, label: string): string | undefined {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return undefined; // A charset that nobody knows: the bytes themselves say more.
  }
}

function guess(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString("utf8") : new TextDecoder("windows-1252").decode(bytes);
}

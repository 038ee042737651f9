/**
 * The texts by which a secret can be told: itself, its base64 at any place of a longer base64 text, its hexadecimal
 * digits. Escapes (URL, JSON, HTML) are undone before anything is compared, by `text-views.ts`.
 */

/** Shorter ones would be found everywhere by chance. */
export const SHORTEST_SECRET = 8;

/** `-----BEGIN PRIVATE KEY-----` is in every key file, and so no secret. */
const ARMOUR = /^-{3,}[^-]*-{3,}$/;

export function isLongEnough(value: string): boolean {
  return value.trim().length >= SHORTEST_SECRET;
}

/** Without those that are too short to be searched for. */
export function secretForms(value: string): readonly string[] {
  const lines = value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => !ARMOUR.test(line));
  const texts = [value, value.trim(), ...lines].filter(isLongEnough);
  return [...new Set([...new Set(texts)].flatMap(encodings))];
}

function encodings(text: string): readonly string[] {
  const bytes = Buffer.from(text, "utf8");
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => base64Forms(bytes, offset));
  return [
    text,
    bytes.toString("latin1"), // as URLs spell it, byte by byte
    // Escaped, so that it is also found where it was escaped twice.
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/**
 * Of a text that has the bytes `offset` bytes after a multiple of three: the digits that depend on the bytes alone, and
 * those that also show that the text ends here, with and without padding.
 */
function base64Forms(bytes: Buffer, offset: number): readonly string[] {
  const first = Math.ceil((offset * 8) / 6);
  const bits = (offset + bytes.length) * 8;
  const all = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const digits = all.replace(/=+$/, "");
  return [digits.slice(first, Math.floor(bits / 6)), digits.slice(first), all.slice(first)];
}

/**
 * How a secret may be written. Forms are the texts that reveal it: itself, its base64 at any offset of a longer base64
 * text, its hexadecimal digits. Escapes (URL, JSON, HTML) are undone before comparing: text views.
 */
/** Shorter ones would match everywhere by chance. */
export const SHORTEST_SECRET = 8;

/** `-----BEGIN PRIVATE KEY-----` is in every key file, so it is not a secret. */
const ARMOUR = /^-{3,}[^-]*-{3,}$/;

export function isLongEnough(value: string): boolean {
  return value.trim().length >= SHORTEST_SECRET;
}

/** Without those that are too short to search for. */
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
    // Escaped, so that it is also found if it was escaped twice.
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/**
 * For a text with the bytes `offset` bytes after a multiple of three: the digits that depend only on the bytes, and
 * those at the end of a text, with and without padding.
 */
function base64Forms(bytes: Buffer, offset: number): readonly string[] {
  const first = Math.ceil((offset * 8) / 6);
  const bits = (offset + bytes.length) * 8;
  const all = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const digits = all.replace(/=+$/, "");
  return [digits.slice(first, Math.floor(bits / 6)), digits.slice(first), all.slice(first)];
}

/**
 * How a text reads with its escapes undone, one view per kind of escaping. Secrets are searched in every view, so it
 * does not matter which characters were escaped and how.
 */
export interface TextView {
  /** Characters that start an escape; a text without any reads the same. */
  readonly leads: RegExp;
  /** Global. */
  readonly escape: RegExp;
  /** Characters needed to tell an escape from its start. */
  readonly longestEscape: number;
  decode(written: string): string;
}

/** Base64 and other long lines are often wrapped: one line break, even an escaped one, is skipped. */
const UNWRAPPED: TextView = {
  leads: /[\r\n\\]/g,
  escape: /(?:\r|\\r)?(?:\n|\\n)(?![\r\n\\])/g,
  longestEscape: 5,
  decode: () => "",
};

/** `%41`, one byte each. */
const PERCENT: TextView = {
  leads: /%/g,
  escape: /%[0-9A-Fa-f]{2}/g,
  longestEscape: 3,
  decode: (written) => fromHex(written.slice(1)),
};

/** A web form: as above, and `+` is a space. */
const FORM: TextView = {
  leads: /[%+]/g,
  escape: /%[0-9A-Fa-f]{2}|\+/g,
  longestEscape: 3,
  decode: (written) => (written === "+" ? " " : PERCENT.decode(written)),
};

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** JSON, and what programming languages and shells add to it. */
const BACKSLASH: TextView = {
  leads: /\\/g,
  escape: /\\(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[\s\S])/g,
  longestEscape: 10,
  decode: (written) => {
    const [, digits] = /^\\[ux]\{?([0-9A-Fa-f]+)\}?$/.exec(written) ?? [];
    const character = written.slice(1);
    return digits === undefined ? (CONTROL_ESCAPES[character] ?? character) : fromHex(digits);
  },
};

/** JSON inside JSON, as in logs: any number of backslashes counts as one. */
const BACKSLASHES: TextView = {
  leads: /\\/g,
  escape: /\\{1,8}(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["'/bfnrt])?/g,
  longestEscape: 14,
  decode: (written) => {
    const rest = written.replace(/^\\+/, "\\");
    return rest === "\\" ? rest : BACKSLASH.decode(rest);
  },
};

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** `&amp;`, `&#39;`, `&#x27;` */
const MARKUP: TextView = {
  leads: /&/g,
  escape: /&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});/g,
  longestEscape: 10,
  decode: (written) => {
    const [, hex, decimal] = /#(?:[xX]([0-9A-Fa-f]+)|([0-9]+))/.exec(written) ?? [];
    if (hex !== undefined) return fromHex(hex);
    return decimal === undefined ? (ENTITIES[written.slice(1, -1)] ?? "") : fromCode(Number(decimal));
  },
};

export const TEXT_VIEWS: readonly TextView[] = [UNWRAPPED, PERCENT, FORM, BACKSLASH, BACKSLASHES, MARKUP];

function fromHex(digits: string): string {
  return fromCode(Number.parseInt(digits, 16));
}

function fromCode(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

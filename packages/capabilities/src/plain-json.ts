/**
 * Copies a program's values into plain JSON objects of bounded size, without methods or cycles. Also detects
 * credentials by key names or text forms, because a provider's answer goes to a run, and from there to a model. Either
 * kind of mistake is possible; when in doubt, this refuses.
 */
import { digestBytes } from "@metier/base/digest";
import { canonicalText, isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { type Shape, testedShape } from "@metier/base/shape";
import { TOKEN_FORMS } from "@metier/scan";
import { type Answer, answerFault, answerWith } from "./capability.ts";

interface FoundCredential {
  /** `items[0].headers.authorization`; never the value. */
  readonly path: string;
  /** `named like a credential`, or the form: `a JSON Web Token`. */
  readonly what: string;
}

const MOST_LEVELS = 100;
const MOST_VALUES = 200_000;
/** Longer texts are searched for forms, but not parsed as JSON. */
const MOST_INNER_CHARACTERS = 256 * 1024;

/**
 * Searches keys, values, and texts that are JSON themselves. What is too deep or too large to search counts as found.
 */
export function findCredential(value: unknown): FoundCredential | undefined {
  let seen = 0;
  const search = (part: unknown, path: string, level: number): FoundCredential | undefined => {
    if (++seen > MOST_VALUES) return { path, what: `beyond the limit of ${MOST_VALUES} checked values` };
    if (level > MOST_LEVELS) return { path, what: `nested deeper than ${MOST_LEVELS} levels` };
    if (typeof part === "string") return searchText(part, path, level);
    if (typeof part !== "object" || part === null) return undefined;
    if (Array.isArray(part)) return searchItems(part, path, level);
    return searchEntries(part, path, level);
  };
  const searchText = (text: string, path: string, level: number): FoundCredential | undefined => {
    const what = findCredentialForm(text);
    if (what !== undefined) return { path, what };
    const inner = readInner(text);
    return inner === undefined ? undefined : search(inner, path, level + 1);
  };
  const searchItems = (
    items: readonly unknown[],
    path: string,
    level: number,
  ): FoundCredential | undefined => {
    for (const [index, item] of items.entries()) {
      const found = search(item, `${path}[${index}]`, level + 1);
      if (found) return found;
    }
    return undefined;
  };
  const searchEntries = (part: object, path: string, level: number): FoundCredential | undefined => {
    if (isSpelledOut(part)) return { path: join(path, "value"), what: NAMED };
    for (const [key, item] of Object.entries(part)) {
      const here = join(path, key);
      if (isCredentialName(key, item)) return { path: here, what: NAMED };
      const what = findCredentialForm(key);
      if (what !== undefined) return { path, what };
      const found = search(item, here, level + 1);
      if (found) return found;
    }
    return undefined;
  };
  return search(value, "", 0);
}

const NAMED = "named like a credential";
const NAME_KEYS: ReadonlySet<string> = new Set(["name", "key", "header"]);

/** An entry in name/value form, like headers: `{ "name": "Set-Cookie", "value": "…" }`; keys in any letter case. */
function isSpelledOut(part: object): boolean {
  if (Object.keys(part).length < 2) return false;
  const entries = Object.entries(part).map(([key, item]) => [key.toLowerCase(), item as unknown] as const);
  const names = entries.flatMap(([key, item]) =>
    NAME_KEYS.has(key) && typeof item === "string" ? [item] : [],
  );
  const values = entries.flatMap(([key, item]) => (key === "value" ? [item] : []));
  return names.some((name) => values.some((value) => isCredentialName(name, value)));
}

function readInner(text: string): Json | undefined {
  if (text.length > MOST_INNER_CHARACTERS || !/^\s*["[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // Only looks like JSON.
  }
}

/** Keys also come from the provider: only a plain one is shown. */
function join(path: string, key: string): string {
  const shown = /^[\w -]{1,60}$/.test(key) && findCredentialForm(key) === undefined ? key : "…";
  return path === "" ? shown : `${path}.${shown}`;
}

// Key names in any spelling: `access_token`, `Access-Token`, `accessToken`, `ACCESSTOKEN`. The end of a name decides:
// `google_access_token` is one, `access_token_url` is not. Tokens for paging, such as `next_page_token`, are not
// credentials.

/** Refused with any value. Written as they are compared: without separators. */
const ALWAYS =
  /^(?:accesstoken|refreshtoken|idtoken|clientsecret|cookie|cookies|setcookie|setcookies|authorization)$/;

/** Refused if the value contains text: a flag or a count is not a credential. */
const WHOLE =
  /^(?:token|jwt|bearer|pwd|passwd|authorisation|proxyauthorization|xauthorization|httpauthorization|authorizationheader|authheader|cookieheader|cookiejar|codeverifier)$/;

/** The last words of a name, even without separators, since hardly any other word ends like this. */
const ENDINGS =
  /(?:(?:access|refresh|auth|oauth|bearer|session|security|api|bot|login|service|secret|csrf|xsrf|sas)token|(?:client|app|consumer)secret|(?:api|private|secret|signing|encryption|access|master)key|password|passphrase|setcookie)$/;

/** The last words of a name, only as separate words: `paid_token` is not an `id_token`. */
const LAST_WORDS = /(?:^| )(?:(?:secret|cookie|credential|jwt|passwd|pwd)s?|(?:id|app|user) token)$/;

/** For a longer name, checks its end, which says what it is. */
const LONGEST_NAME = 200;
const MOST_LEVELS_OF_TEXT = 20;

export function isCredentialName(name: string, value: unknown): boolean {
  const known = knownNames.get(name) ?? judgeName(name);
  return known === "always" || (known === "with a text" && holdsText(value));
}

type NameJudgement = "always" | "with a text" | "never";

/** The same few names appear in every answer. */
const knownNames = new Map<string, NameJudgement>();
const MOST_KNOWN_NAMES = 1000;

function judgeName(name: string): NameJudgement {
  const words = splitName(name.slice(-LONGEST_NAME));
  const judgement = judgeWords(words, words.join(""));
  if (knownNames.size >= MOST_KNOWN_NAMES) knownNames.clear();
  if (name.length <= LONGEST_NAME) knownNames.set(name, judgement);
  return judgement;
}

function judgeWords(words: readonly string[], whole: string): NameJudgement {
  if (ALWAYS.test(whole)) return "always";
  const singular = whole.replace(/s$/, "");
  const isLikeOne = WHOLE.test(whole) || LAST_WORDS.test(words.join(" ")) || ENDINGS.test(singular);
  return isLikeOne ? "with a text" : "never";
}

/** In lowercase, without marks, invisible characters and a trailing number. */
function splitName(name: string): readonly string[] {
  return name
    .normalize("NFKD")
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .replace(/[\s\d\p{P}\p{S}]+$/u, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** What is nested too deeply counts as text. */
function holdsText(value: unknown, level = 0): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value !== "object" || value === null) return false;
  return level > MOST_LEVELS_OF_TEXT || Object.values(value).some((item) => holdsText(item, level + 1));
}

// Forms of texts under any name. Only a form counts, not a word: prose about bearer tokens or authorization passes.

interface CredentialForm {
  readonly what: string;
  readonly pattern: RegExp;
  isMeant?(match: string): boolean;
}

/** Every repetition is bounded, so that a crafted text cannot keep a search busy. */
const FORMS: readonly CredentialForm[] = [
  {
    what: "a private key",
    // Also when the text is JSON inside JSON, with escaped line breaks.
    pattern:
      /-----BEGIN (?:[A-Z0-9]{2,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----[ \t]{0,9}(?:\\r)?(?:\s|\\n)\s{0,9}\S{8}/,
  },
  { what: "a private key", pattern: /\bPuTTY-User-Key-File-\d/ },
  {
    what: "a JSON Web Token",
    pattern: /\beyJ[\w-]{8,600}\.[\w-]{2}/g,
    isMeant: (token) => readHeader(token) !== undefined,
  },
  {
    what: "an authorization header",
    pattern:
      /\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token|digest|negotiate)\s{1,3}\S{6}/i,
  },
  {
    what: "a bearer token",
    pattern: /\bbearer\s{1,3}[\w.~+/=-]{16,200}/gi,
    isMeant: (match) => /\d/.test(match) && /[a-z]/i.test(match.slice("bearer ".length)),
  },
  // As the whole value, even a shorter one counts.
  { what: "a bearer token", pattern: /^\s{0,20}bearer\s{1,3}(?=\S*[\d._~+/=-])[\w.~+/=-]{6,4000}\s{0,20}$/i },
  {
    what: "basic credentials",
    pattern: /\bbasic\s{1,3}[A-Za-z0-9+/]{8,400}={0,2}/gi,
    isMeant: (match) => /^[\x20-\x7E]+:[\x20-\x7E]*$/.test(fromBase64(match.replace(/^basic\s+/i, ""))),
  },
  {
    what: "a cookie header",
    pattern: /(?:^|[\r\n])[ \t]{0,20}(?:set-)?cookie:\s{0,3}[\w.-]{1,60}=\S{6}/i,
  },
  {
    what: "a credential in an address",
    pattern:
      /[?&#](?:access_?token|refresh_?token|id_?token|client_?secret|api_?key|password)=[^&\s"'<>]{8}/i,
  },
  {
    // JSON inside other text, as programs print it; quotes may be escaped once more.
    what: "a credential in JSON",
    pattern:
      /\\?["'](?:(?:access|refresh|id|auth|bearer|session|api)[_-]?token|client[_-]?secret)\\?["']\s{0,3}:\s{0,3}\\?["'][\w.~+/=-]{12,200}/gi,
    isMeant: (match) => /:.*\d/s.test(match),
  },
  {
    what: "a password in an address",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>{}$]{1,60}:[^\s:/@"'`<>{}$*]{6,80}@[^\s/"'`]{3}/i,
  },
  { what: "a Google token", pattern: /\bya29\.[\w-]{20}|(?<![\w/])1\/\/0[\w-]{20}/ },
  { what: "a Slack token", pattern: /\bxox[abceposr]-[A-Za-z0-9-]{10}|\bxapp-\d-[A-Za-z0-9-]{10}/ },
  { what: "a Stripe key", pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16}/ },
  { what: "a DigitalOcean token", pattern: /\bdo[opr]_v1_[0-9a-f]{32}/ },
  { what: "a Shopify token", pattern: /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/ },
  {
    what: "a secret key",
    pattern: /\bsk-[\w-]{20,200}/g,
    isMeant: (match) => /\d/.test(match) && /[A-Z]/i.test(match.slice("sk-".length)),
  },
];

/** All forms in two expressions: hardly any text matches one. */
const ANY_FORM: readonly RegExp[] = ["", "i"].map((flags) => {
  const patterns = [...FORMS, ...TOKEN_FORMS].map(({ pattern }) => pattern);
  const alike = patterns.filter(({ ignoreCase }) => ignoreCase === (flags === "i"));
  return new RegExp(alike.map(({ source }) => `(?:${source})`).join("|"), flags);
});

/** Nothing shorter has the form of a credential. */
const SHORTEST = 12;

/** What the text contains, by name; never the text itself. */
function findCredentialForm(text: string): string | undefined {
  if (text.length < SHORTEST) return undefined;
  if (!ANY_FORM.some((pattern) => pattern.test(text))) return undefined;
  const isThere = (form: CredentialForm): boolean => occurs(form, text);
  return (FORMS.find(isThere) ?? TOKEN_FORMS.find(isThere))?.what;
}

function occurs({ pattern, isMeant }: CredentialForm, text: string): boolean {
  if (text.search(pattern) === -1) return false;
  if (isMeant === undefined) return true;
  for (const [match] of text.matchAll(pattern)) if (isMeant(match)) return true;
  return false;
}

/** Whether a token's header says how it was signed. */
function readHeader(token: string): string | undefined {
  const header = fromBase64(token.slice(0, token.indexOf(".")));
  return /^\{.*"(?:alg|enc|typ)"\s*:/s.test(header) ? header : undefined;
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

/** A socket frame holds 10 MB; this leaves room for the rest. */
export const MOST_CHARACTERS: number = 8 * 1024 * 1024;

/** Or why not, as the rest of a sentence: "is not an object". */
export function readPlainObject(value: unknown): Result<JsonObject, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `of type ${typeof value}`;
    return refused(`is ${kind}; it must be a JSON object`);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return refused(`cannot be written as JSON (${(error as Error).message.split("\n")[0]})`);
  }
  if (text === undefined || !text.startsWith("{")) {
    return refused("is not a plain object; it must be a JSON object");
  }
  if (text.length > MOST_CHARACTERS) {
    return refused(`has ${text.length} characters as JSON; the limit is ${MOST_CHARACTERS}`);
  }
  return done(JSON.parse(text) as JsonObject);
}

/** For values parsed from JSON, which contain nothing else. */
export const jsonObjectShape: Shape<JsonObject> = testedShape(
  (value): value is JsonObject => isJsonObject(value),
  "an object",
);

/** Plain JSON, or `capability_invalid_output`. `source` starts the message, as in "The output of `gog.email`". */
export function checkOutput(source: string, value: unknown): Answer<JsonObject> {
  const plain = readPlainObject(value);
  if (!plain.ok) return answerFault("capability_invalid_output", `${source} ${plain.refusal}.`);
  const found = findCredential(plain.value);
  if (found === undefined) return answerWith(plain.value);
  const where = found.path === "" ? "" : ` at \`${found.path}\``;
  return answerFault("capability_invalid_output", `${source} was withheld:${where} it is ${found.what}.`, {
    hint: "A provider must keep credentials in its vault and return only references.",
  });
}

/**
 * Represents a value where the value itself must not appear: in the audit log, a plan or the journal. `sha256:…`,
 * independent of key order.
 */
export function digestJson(value: unknown): string {
  return digestBytes(canonicalText(value));
}

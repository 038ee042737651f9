/**
 * Keys that are named like a credential, in whatever spelling: `access_token`, `Access-Token`, `accessToken`, `ACCESSTOKEN`.
 * The end of a name says what it is: `google_access_token` is one, `access_token_url` is not. Tokens that only lead through
 * a list, such as `next_page_token`, are no credentials.
 */

/** Refused whatever their value is. */
const ALWAYS: ReadonlySet<string> = new Set(
  "access token|refresh token|id token|client secret|cookie|cookies|set cookie|set cookies|authorization"
    .split("|")
    .map(joinWords),
);

/** Refused when the value holds a text: what says only whether there is one, or how many, is none. */
const WHOLE: ReadonlySet<string> = new Set(
  [
    "token|jwt|bearer|pwd|passwd|authorisation|proxy authorization|x authorization|http authorization",
    "authorization header|auth header|cookie header|cookie jar|code verifier",
  ]
    .flatMap((names) => names.split("|"))
    .map(joinWords),
);

/** The last words of a name; also where nothing separates them, since hardly any other word ends like this. */
const ENDINGS: readonly string[] = [
  "access token|refresh token|auth token|oauth token|bearer token|session token|security token|api token|bot token",
  "login token|service token|secret token|csrf token|xsrf token|sas token|client secret|app secret|consumer secret",
  "api key|private key|secret key|signing key|encryption key|access key|master key|password|passphrase|set cookie",
]
  .flatMap((names) => names.split("|"))
  .map(joinWords);

/** The last word of a name, where it is a word of its own: `paid_token` is no `id_token`. */
const LAST_WORDS: ReadonlySet<string> = new Set(["secret", "cookie", "credential", "jwt", "passwd", "pwd"]);
const LAST_PAIRS: ReadonlySet<string> = new Set(["id token", "app token", "user token"]);

/** Of a longer name the end is looked at, which says what it is. */
const LONGEST_NAME = 200;
const MOST_LEVELS = 20;

export function isCredentialName(name: string, value: unknown): boolean {
  const words = splitName(name.slice(-LONGEST_NAME));
  const whole = words.join("");
  if (ALWAYS.has(whole)) return true;
  return isNamedLikeOne(words, whole) && holdsText(value);
}

function isNamedLikeOne(words: readonly string[], whole: string): boolean {
  const last = words.at(-1) ?? "";
  const singular = whole.replace(/s$/, "");
  return (
    WHOLE.has(whole) ||
    LAST_WORDS.has(last.replace(/s$/, "")) ||
    LAST_PAIRS.has(words.slice(-2).join(" ")) ||
    ENDINGS.some((ending) => singular.endsWith(ending))
  );
}

/** In lower case, without marks, invisible characters and a number at the end. */
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

/** What is nested too deeply to look at counts as text. */
function holdsText(value: unknown, level = 0): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value !== "object" || value === null) return false;
  return level > MOST_LEVELS || Object.values(value).some((item) => holdsText(item, level + 1));
}

function joinWords(words: string): string {
  return words.replaceAll(" ", "");
}

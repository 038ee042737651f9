/**
 * Texts that have the form of a credential, whatever they are called. A form counts, not a word: prose about bearer tokens
 * or authorization passes.
 */
import { TOKEN_FORMS } from "../scan/token-forms.ts";

interface CredentialForm {
  readonly what: string;
  readonly pattern: RegExp;
  isMeant?(match: string): boolean;
}

/** Every repetition is bounded: a text may be made to keep a search busy. */
const FORMS: readonly CredentialForm[] = [
  {
    what: "a private key",
    // Also where the text is JSON inside JSON and its line ends are spelled out.
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
  // The whole of a value: there a shorter one is meant, too.
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
  ...TOKEN_FORMS,
];

/** Nothing shorter is a credential by its form. */
const SHORTEST = 12;

/** What the text holds, by name; never the text itself. */
export function findCredentialForm(text: string): string | undefined {
  if (text.length < SHORTEST) return undefined;
  return FORMS.find((form) => occurs(form, text))?.what;
}

function occurs({ pattern, isMeant }: CredentialForm, text: string): boolean {
  if (isMeant === undefined) return text.search(pattern) !== -1;
  for (const [match] of text.matchAll(pattern)) if (isMeant(match)) return true;
  return false;
}

/** Of a token, when it says how the token was signed. */
function readHeader(token: string): string | undefined {
  const header = fromBase64(token.slice(0, token.indexOf(".")));
  return /^\{.*"(?:alg|enc|typ)"\s*:/s.test(header) ? header : undefined;
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

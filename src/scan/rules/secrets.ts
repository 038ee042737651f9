/** Credentials that were left in files. What was found is never shown whole. */
import { createLineFinder } from "../line-finder.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { TOKEN_FORMS } from "../token-forms.ts";
import { isWarning } from "../warning.ts";

const PRIVATE_KEY =
  /-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP |ENCRYPTED )?PRIVATE KEY(?: BLOCK)?-----\s*((?:[A-Za-z0-9+/=:, -]{20,}\s*\n){2,})/g;
const IN_ADDRESS =
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>{}$]{1,60}:([^\s:/@"'`<>{}$*]{6,80})@[^\s/"'`]{3,}/gi;
const ASSIGNED =
  /\b[\w-]*(?:api[_-]?key|secret|token|passw(?:or)?d|private[_-]?key)[\w-]*["']?\s*[:=]\s*["']([A-Za-z0-9+/_=.-]{20,200})["']/gi;

/** All forms at once: most files have none. */
const ANY_TOKEN = new RegExp(TOKEN_FORMS.map(({ pattern }) => `(?:${pattern.source})`).join("|"));

/** Words and repetitions of examples. */
const EXAMPLE =
  /example|sample|dummy|fake|test|placeholder|your|xxx|changeme|redacted|foo|bar|1234567|abcdef|0000|\.\.\.|insert|replace|secret|password|token|key_here|<|\*\*\*/i;

export const SECRET_RULES: readonly ScanRule[] = [
  {
    id: "secrets.private-key",
    family: "secrets",
    severity: "high",
    title: "A private key stands in a file",
    explanation:
      "Whoever has the skill has the key. The mark alone, without a key behind it, does not count.",
    help: "Revoke the key, then delete it, also from the history of the repository.",
    find: (skill) =>
      findText(skill, PRIVATE_KEY, "a private key", (match) =>
        isRandom((match[1] ?? "").replace(/\s/g, ""), 4),
      ),
  },
  {
    id: "secrets.token",
    family: "secrets",
    severity: "high",
    title: "A token of a service stands in a file",
    explanation:
      "Its form is that of a real token, and it is as random as one. Examples that consist of words or repetitions do not count.",
    help: "Revoke the token; declare the variable in `env` instead.",
    find: function* (skill) {
      if (!skill.files.some(({ text = "" }) => ANY_TOKEN.test(text))) return;
      for (const { what, pattern } of TOKEN_FORMS)
        yield* findText(skill, pattern, what, (match) => isRandom(match[0], 3.2) && !EXAMPLE.test(match[0]));
    },
  },
  {
    id: "secrets.password-in-address",
    family: "secrets",
    severity: "medium",
    title: "An address has a password in it",
    explanation:
      "Connection strings with passwords are passed on with the skill. Usual examples such as `user:password@localhost` do not count.",
    help: "Take the password from a variable that is declared in `env`.",
    find: (skill) =>
      findText(skill, IN_ADDRESS, "a password", (match) => {
        const password = match[1] ?? "";
        return (
          isRandom(password, 3) &&
          !EXAMPLE.test(password) &&
          !/^[a-z]+\d{0,4}$/i.test(password) &&
          !/@(?:localhost|127\.|(?:host|db|redis|postgres|mysql)(?=[:/]|$)|example|\w+:\d)/.test(match[0])
        );
      }),
  },
  {
    id: "secrets.assigned",
    family: "secrets",
    severity: "low",
    title: "A variable that is named like a secret is given a random value",
    explanation:
      "It has the form of a secret, of a service that is not known here. Identifiers and digests look the same, so it is only worth a look.",
    help: "If it is a secret, revoke it and declare a variable in `env` instead.",
    find: (skill) =>
      findText(skill, ASSIGNED, "a value", (match) => {
        const value = match[1] ?? "";
        return (
          isRandom(value, 3.8) &&
          !EXAMPLE.test(value) &&
          /\d/.test(value) &&
          /[a-zA-Z]/.test(value) &&
          !/^[\w.-]+\.[a-z]{2,}$/.test(value)
        );
      }),
  },
];

function* findText(
  skill: ScannedSkill,
  pattern: RegExp,
  what: string,
  isMeant: (match: RegExpMatchArray) => boolean,
): Iterable<Hit> {
  for (const { path, text } of skill.files) {
    if (text === undefined) continue;
    const placeOf = createLineFinder(text);
    for (const match of text.matchAll(pattern)) {
      if (!isMeant(match)) continue;
      const at = match.index ?? 0;
      const { line } = placeOf(at);
      const lineText = text.slice(text.lastIndexOf("\n", at) + 1, at);
      const isShown = isWarning(lineText) || /\bexample\b/i.test(lineText);
      yield {
        path,
        line,
        seen: match[0],
        shown: mask(match[0]),
        detail: what,
        ...(isShown && { severity: "low" as const }),
      };
    }
  }
}

/** Enough to find it again, too little to use it. */
function mask(secret: string): string {
  const [first = ""] = secret.split("\n");
  return `${first.slice(0, Math.min(8, Math.floor(first.length / 4)))}••••`;
}

/** Shannon's measure, in bits for each character. */
export function isRandom(text: string, least: number): boolean {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits >= least;
}

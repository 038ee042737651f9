/**
 * Reading what only its owner should read (keys, sign-ins, browsers, keychains, process environments), and credentials
 * left in files. Found values are never shown in full.
 */
import type { ScanSeverity } from "@metier/skills/config";
import { type Act, createLineFinder, hasTaint } from "../code/code-part.ts";
import { hasToken, type SecretKind, secretKindOf, TOKEN_FORMS } from "../code/known-secrets.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, findCommandHits, hasWord, isDocumented, isWarning, textFiles } from "./find-hits.ts";

function* findReads(
  skill: ScannedSkill,
  kind: SecretKind,
  inScript: ScanSeverity = "high",
  inDocument: ScanSeverity = "medium",
): Iterable<Hit> {
  for (const act of actsOf(skill, "read"))
    if (secretKindOf(act.target ?? "") === kind)
      yield actHit(act, isDocumented(act) ? inDocument : inScript, `\`${act.target}\``);
}

const KEYCHAIN_COMMANDS: readonly (readonly [RegExp, RegExp])[] = [
  [/^security$/, /^(?:find-(?:generic|internet)-password|dump-keychain|export)$/],
  [/^secret-tool$/, /^(?:lookup|search)$/],
  [/^(?:gpg|gpg2)$/, /^--export-secret-keys$/],
  [/^kwallet-query$/, /./],
  [/^(?:cmdkey|vaultcmd)$/i, /list/i],
];

/** Asking for one named entry, as a tool does for its own key, is milder than taking everything. */
function keychainSeverity(act: Act): ScanSeverity | undefined {
  const [program = "", ...words] = act.words ?? [];
  const asks = KEYCHAIN_COMMANDS.find(([pattern]) => pattern.test(program))?.[1];
  const asked = asks && words.find((word) => asks.test(word));
  if (asked === undefined) return undefined;
  const isOneEntry = /^(?:find-|lookup)/.test(asked) && hasWord(words, /^-[sal]$|^service$/);
  return isOneEntry ? "low" : "high";
}

export const CREDENTIAL_RULES: RuleTable = {
  "credentials.private-key": {
    severity: "high",
    title: "Reads private keys or wallets",
    explanation:
      "A private key signs in as its owner wherever its public half is known. Programs use keys through an agent; they have no reason to read them.",
    help: "Let `ssh`, `git` or the wallet use the key itself.",
    find: (skill) => findReads(skill, "private-key"),
  },
  "credentials.cloud": {
    severity: "medium",
    title: "Reads stored sign-ins of cloud and developer tools",
    explanation:
      "Files such as `~/.aws/credentials` or `~/.npmrc` hold tokens for services that may be unrelated to the skill. Those services' own tools read them too, so this is `medium` unless something is sent.",
    help: "Declare the one variable you need in `env`, or call the service's own tool.",
    find: (skill) => findReads(skill, "cloud", "medium", "low"),
  },
  "credentials.browser": {
    severity: "high",
    title: "Reads a browser's passwords or cookies",
    explanation: "A browser profile holds every session of its user.",
    help: "Let the user sign in, or use a token made for this purpose.",
    *find(skill) {
      yield* findReads(skill, "browser");
      for (const act of actsOf(skill, "read")) {
        if (/^(?:browser_cookie3|browsercookie)\./.test(act.target ?? "")) yield actHit(act, "high");
      }
    },
  },
  "credentials.keychain": {
    severity: "high",
    title: "Reads system passwords",
    explanation:
      "Keychains, password stores and `/etc/shadow` hold all passwords of a person or machine. Reading one named keychain entry is `low`: tools keep their own keys there.",
    help: "Ask for the one secret you need through the configuration.",
    *find(skill) {
      yield* findReads(skill, "keychain");
      for (const act of actsOf(skill, "command")) {
        const severity = keychainSeverity(act);
        if (severity) yield actHit(act, severity);
      }
    },
  },
  "credentials.agent": {
    severity: "high",
    title: "Reads an agent's sign-in",
    explanation: "Files such as `~/.claude/.credentials.json` hold the tokens that an agent works with.",
    help: "Use the model that runs the skill; it needs no extra key.",
    find: (skill) => findReads(skill, "agent"),
  },
  "credentials.process": {
    severity: "high",
    title: "Reads process environments from `/proc`",
    explanation:
      "This exposes secrets of programs that the skill was not given. A program can read its own variables directly.",
    help: "Read the variable by name, and declare it in `env`.",
    find: (skill) => findReads(skill, "process"),
  },
  "credentials.harvest": {
    severity: "medium",
    title: "Goes through all environment variables",
    explanation:
      "Code that searches every variable for words such as `KEY` and `SECRET` collects what it was not given. Without such words this is `low`: some tools only print their settings.",
    help: "Read the variables you need by name.",
    *find(skill) {
      for (const act of actsOf(skill, "read")) {
        if (act.target !== "environment") continue;
        const picks = /["'](?:[\w*]*_)?(?:KEY|SECRET|TOKEN|PASSW(?:OR)?D|CREDENTIAL\w*)["'*]/i.test(
          act.part.text.slice(Math.max(0, act.at - 600), act.at + 600),
        );
        yield actHit(act, picks ? "medium" : "info");
      }
    },
  },
  "credentials.spying": {
    severity: "high",
    title: "Reads the clipboard, screen or keyboard, or asks for a password in a window",
    explanation:
      "These show anything a person does outside the task, including passwords. Recording keys and asking for passwords in a custom window are `high`; a single look at the clipboard or screen is `low`, since some skills need it.",
    help: "Let the user provide the text or image.",
    find: findSpying,
  },
  "credentials.environment-file": {
    severity: "medium",
    title: "Writes the whole environment to a file",
    explanation:
      "All variables together hold every secret of a session, and the file keeps them for anyone who reads it later.",
    help: "Write only the variables you need, by name.",
    *find(skill) {
      for (const act of actsOf(skill, "write")) {
        if (hasTaint(act.taints, "environment")) yield actHit(act, "medium", `to \`${act.target}\``);
      }
    },
  },
};

const KEYLOGGERS =
  /\b(?:pynput\.keyboard|keyboard\.(?:on_press|hook|record|read_event)|Listener\(\s*on_press|GetAsyncKeyState|uiohook|iohook|CGEventTapCreate)\b/;

function* findSpying(skill: ScannedSkill): Iterable<Hit> {
  yield* findCommandHits(skill, asksPassword, "high");
  for (const act of actsOf(skill, "read")) {
    const isLook = /^(?:clipboard|screen|pyperclip\.|clipboardy\.|(?:PIL\.)?ImageGrab\.|pyautogui\.)/.test(
      act.target ?? "",
    );
    if (isLook) yield actHit(act, "low");
  }
  for (const { path, text, language } of textFiles(skill)) {
    const at = language === undefined ? -1 : text.search(KEYLOGGERS);
    if (at === -1) continue;
    const lines = text.slice(0, at).split("\n");
    const isComment = /^\s*(?:#|\/\/|\*)/.test(lines.at(-1) ?? "");
    if (!isComment) yield { path, line: lines.length, seen: text.slice(at, at + 60) };
  }
}

function asksPassword(program: string, words: readonly string[]): boolean {
  if (program === "osascript") return hasWord(words, /hidden answer/i);
  return /^(?:zenity|kdialog)$/.test(program) && words.includes("--password");
}

const PRIVATE_KEY =
  /-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP |ENCRYPTED )?PRIVATE KEY(?: BLOCK)?-----\s*((?:[A-Za-z0-9+/=:, -]{20,}\s*\n){2,})/g;
const IN_ADDRESS =
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>{}$]{1,60}:([^\s:/@"'`<>{}$*]{6,80})@[^\s/"'`]{3,}/gi;
const ASSIGNED =
  /\b[\w-]*(?:api[_-]?key|secret|token|passw(?:or)?d|private[_-]?key)[\w-]*["']?\s*[:=]\s*["']([A-Za-z0-9+/_=.-]{20,200})["']/gi;

/** The suffixes of these names, and the names. */
const ASSIGNMENT = /[:=]\s*["'][A-Za-z0-9+/_=.-]{20}/;
const SECRET_NAME = /key|secret|token|passw/i;

/** Words and repetitions of examples. */
const EXAMPLE =
  /example|sample|dummy|fake|test|placeholder|your|xxx|changeme|redacted|foo|bar|1234567|abcdef|0000|\.\.\.|insert|replace|secret|password|token|key_here|<|\*\*\*/i;

export const SECRET_RULES: RuleTable = {
  "secrets.private-key": {
    severity: "high",
    title: "A file contains a private key",
    explanation:
      "Anyone who has the skill has the key. The marker line alone, without a key after it, does not count.",
    help: "Revoke the key, then delete it, also from the repository's history.",
    find: (skill) =>
      findText(
        skill,
        PRIVATE_KEY,
        "a private key",
        (_, key) => isRandom(key.replace(/\s/g, ""), 4),
        /-----BEGIN /,
      ),
  },
  "secrets.token": {
    severity: "high",
    title: "A file contains a service token",
    explanation:
      "It has the form and randomness of a real token. Examples made of words or repetitions do not count.",
    help: "Revoke the token; declare the variable in `env` instead.",
    *find(skill) {
      if (!skill.files.some(({ text = "" }) => hasToken(text))) return;
      for (const { what, pattern } of TOKEN_FORMS)
        yield* findText(skill, pattern, what, (token) => isRandom(token, 3.2) && !EXAMPLE.test(token), {
          test: hasToken,
        });
    },
  },
  "secrets.password-in-address": {
    severity: "medium",
    title: "A URL contains a password",
    explanation:
      "A connection string with a password is shared along with the skill. Common examples such as `user:password@localhost` do not count.",
    help: "Read the password from a variable declared in `env`.",
    find: (skill) => findText(skill, IN_ADDRESS, "a password", isRealPassword, /:\/\//),
  },
  "secrets.assigned": {
    severity: "low",
    title: "A variable named like a secret is set to a random value",
    explanation:
      "It looks like a secret of an unknown service. Identifiers and digests look the same, so it only deserves a look.",
    help: "If it is a secret, revoke it and declare a variable in `env` instead.",
    find: (skill) => findText(skill, ASSIGNED, "a value", isRealValue, { test: mayAssign }),
  },
};

function mayAssign(text: string): boolean {
  return ASSIGNMENT.test(text) && SECRET_NAME.test(text);
}

function isRealValue(_: string, value: string): boolean {
  return (
    isRandom(value, 3.8) &&
    !EXAMPLE.test(value) &&
    /\d/.test(value) &&
    /[a-zA-Z]/.test(value) &&
    !/^[\w.-]+\.[a-z]{2,}$/.test(value)
  );
}

function isRealPassword(match: string, password: string): boolean {
  return (
    isRandom(password, 3) &&
    !EXAMPLE.test(password) &&
    !/^[a-z]+\d{0,4}$/i.test(password) &&
    !/@(?:localhost|127\.|(?:host|db|redis|postgres|mysql)(?=[:/]|$)|example|\w+:\d)/.test(match)
  );
}

/** `mark`: what every match contains, which is cheap to search for: most texts do not have it. */
function* findText(
  skill: ScannedSkill,
  pattern: RegExp,
  what: string,
  isMeant: (match: string, group: string) => boolean,
  mark: Pick<RegExp, "test">,
): Iterable<Hit> {
  for (const { path, text } of textFiles(skill)) {
    if (!mark.test(text)) continue;
    const placeOf = createLineFinder(text);
    for (const { 0: seen, 1: group = "", index } of text.matchAll(pattern)) {
      if (!isMeant(seen, group)) continue;
      const { line } = placeOf(index);
      const before = text.slice(text.lastIndexOf("\n", index) + 1, index);
      const isShown = isWarning(before) || /\bexample\b/i.test(before);
      yield { path, line, seen, shown: mask(seen), detail: what, severity: isShown ? "low" : undefined };
    }
  }
}

/** Enough to find it again, too little to use it. */
function mask(secret: string): string {
  const [first = ""] = secret.split("\n");
  return `${first.slice(0, Math.min(8, Math.floor(first.length / 4)))}••••`;
}

/** Shannon entropy, in bits per character. */
function isRandom(text: string, least: number): boolean {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits >= least;
}

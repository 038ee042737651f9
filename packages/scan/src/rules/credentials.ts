/**
 * Reading what only its owner should read (keys, sign-ins, browsers, keychains, the environment of processes), and
 * credentials that were left in files. What was found is never shown whole.
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

/** Asking for one named entry, as a tool does for its own key, is milder than taking all there is. */
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
    title: "Private keys or wallets are read",
    explanation:
      "A private key signs in as its owner wherever its public half is known. Programs use keys through an agent; they have no reason to read them.",
    help: "Let `ssh`, `git` or the wallet use the key itself.",
    find: (skill) => findReads(skill, "private-key"),
  },
  "credentials.cloud": {
    severity: "medium",
    title: "Stored sign-ins of cloud and developer tools are read",
    explanation:
      "Files such as `~/.aws/credentials` or `~/.npmrc` hold tokens for services that the skill may have nothing to do with. Tools of those services read them too, so it is `medium` unless something is sent.",
    help: "Declare the one variable that is needed in `env`, or call the service's own tool.",
    find: (skill) => findReads(skill, "cloud", "medium", "low"),
  },
  "credentials.browser": {
    severity: "high",
    title: "Passwords or cookies of a browser are read",
    explanation: "The profile of a browser holds every session of its user.",
    help: "Let the user sign in, or use a token made for the purpose.",
    *find(skill) {
      yield* findReads(skill, "browser");
      for (const act of actsOf(skill, "read")) {
        if (/^(?:browser_cookie3|browsercookie)\./.test(act.target ?? "")) yield actHit(act, "high");
      }
    },
  },
  "credentials.keychain": {
    severity: "high",
    title: "Passwords of the system are read",
    explanation:
      "Keychains, password stores and `/etc/shadow` hold all passwords of a person or a machine. One named entry of a keychain is `low`: tools keep their own keys there.",
    help: "Ask for the one secret that is needed, through the configuration.",
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
    title: "The sign-in of an agent is read",
    explanation: "Files such as `~/.claude/.credentials.json` hold the tokens an agent itself works with.",
    help: "Use the model that the skill runs with; it needs no key of its own.",
    find: (skill) => findReads(skill, "agent"),
  },
  "credentials.process": {
    severity: "high",
    title: "The environment of processes is read from `/proc`",
    explanation:
      "It shows the secrets of programs that the skill was not given. There are plain ways to read one's own variables.",
    help: "Read the variable by its name, and declare it in `env`.",
    find: (skill) => findReads(skill, "process"),
  },
  "credentials.harvest": {
    severity: "medium",
    title: "All variables of the environment are gone through",
    explanation:
      "Code that looks through every variable for words such as `KEY` and `SECRET` collects what it was not given. Without such words it is `low`: some tools only print their settings.",
    help: "Read the variables that are needed, by name.",
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
    title: "Clipboard, screen or keyboard are read, or a password is asked for in a window",
    explanation:
      "They show whatever a person does beside the task, passwords too. Recording keys and asking for passwords in a window of one's own are `high`; a single look at clipboard or screen is `low`, since some skills are for that.",
    help: "Let the user give the text or the picture.",
    find: findSpying,
  },
  "credentials.environment-file": {
    severity: "medium",
    title: "The whole environment is written to a file",
    explanation:
      "All variables together hold every secret of a session; a file keeps them for whoever comes later.",
    help: "Write the variables that are needed, by name.",
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

/** How each of these ends. */
const ASSIGNMENT = /[:=]\s*["'][A-Za-z0-9+/_=.-]{20}/;

/** Words and repetitions of examples. */
const EXAMPLE =
  /example|sample|dummy|fake|test|placeholder|your|xxx|changeme|redacted|foo|bar|1234567|abcdef|0000|\.\.\.|insert|replace|secret|password|token|key_here|<|\*\*\*/i;

export const SECRET_RULES: RuleTable = {
  "secrets.private-key": {
    severity: "high",
    title: "A private key stands in a file",
    explanation:
      "Whoever has the skill has the key. The mark alone, without a key behind it, does not count.",
    help: "Revoke the key, then delete it, also from the history of the repository.",
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
    title: "A token of a service stands in a file",
    explanation:
      "Its form is that of a real token, and it is as random as one. Examples that consist of words or repetitions do not count.",
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
    title: "An address has a password in it",
    explanation:
      "Connection strings with passwords are passed on with the skill. Usual examples such as `user:password@localhost` do not count.",
    help: "Take the password from a variable that is declared in `env`.",
    find: (skill) => findText(skill, IN_ADDRESS, "a password", isRealPassword, /:\/\//),
  },
  "secrets.assigned": {
    severity: "low",
    title: "A variable that is named like a secret is given a random value",
    explanation:
      "It has the form of a secret, of a service that is not known here. Identifiers and digests look the same, so it is only worth a look.",
    help: "If it is a secret, revoke it and declare a variable in `env` instead.",
    find: (skill) => findText(skill, ASSIGNED, "a value", isRealValue, ASSIGNMENT),
  },
};

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

/** `mark`: what every match contains, and what costs next to nothing to look for: most texts do not have it. */
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

/** Shannon's measure, in bits for each character. */
function isRandom(text: string, least: number): boolean {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits >= least;
}

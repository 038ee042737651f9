/** Reading what only its owner should read: keys, sign-ins, browsers, keychains, the environment of processes. */

import type { ScanSeverity } from "../../config/scan-fields.ts";
import type { Act } from "../code/act.ts";
import { type SecretKind, secretKindOf } from "../code/sensitive-paths.ts";
import { hasTaint } from "../code/taint.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented } from "./act-hits.ts";

function* findReads(
  skill: ScannedSkill,
  kinds: readonly SecretKind[],
  severity: ScanSeverity,
  inDocument: ScanSeverity,
): Iterable<Hit> {
  for (const act of actsOf(skill, "read")) {
    const kind = secretKindOf(act.target ?? "");
    if (kind === undefined || !kinds.includes(kind)) continue;
    yield actHit(act, { severity: isDocumented(act) ? inDocument : severity, detail: `\`${act.target}\`` });
  }
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
  const isOneEntry = /^(?:find-|lookup)/.test(asked) && words.some((word) => /^-[sal]$|^service$/.test(word));
  return isOneEntry ? "low" : "high";
}

export const CREDENTIAL_RULES: readonly ScanRule[] = [
  {
    id: "credentials.private-key",
    family: "credentials",
    severity: "high",
    title: "Private keys or wallets are read",
    explanation:
      "A private key signs in as its owner wherever its public half is known. Programs use keys through an agent; they have no reason to read them.",
    help: "Let `ssh`, `git` or the wallet use the key itself.",
    find: (skill) => findReads(skill, ["private-key"], "high", "medium"),
  },
  {
    id: "credentials.cloud",
    family: "credentials",
    severity: "medium",
    title: "Stored sign-ins of cloud and developer tools are read",
    explanation:
      "Files such as `~/.aws/credentials` or `~/.npmrc` hold tokens for services that the skill may have nothing to do with. Tools of those services read them too, so it is `medium` unless something is sent.",
    help: "Declare the one variable that is needed in `env`, or call the service's own tool.",
    find: (skill) => findReads(skill, ["cloud"], "medium", "low"),
  },
  {
    id: "credentials.browser",
    family: "credentials",
    severity: "high",
    title: "Passwords or cookies of a browser are read",
    explanation: "The profile of a browser holds every session of its user.",
    help: "Let the user sign in, or use a token made for the purpose.",
    find: function* (skill) {
      yield* findReads(skill, ["browser"], "high", "medium");
      for (const act of actsOf(skill, "read")) {
        if (/^(?:browser_cookie3|browsercookie)\./.test(act.target ?? ""))
          yield actHit(act, { severity: "high" });
      }
    },
  },
  {
    id: "credentials.keychain",
    family: "credentials",
    severity: "high",
    title: "Passwords of the system are read",
    explanation:
      "Keychains, password stores and `/etc/shadow` hold all passwords of a person or a machine. One named entry of a keychain is `low`: tools keep their own keys there.",
    help: "Ask for the one secret that is needed, through the configuration.",
    find: function* (skill) {
      yield* findReads(skill, ["keychain"], "high", "medium");
      for (const act of actsOf(skill, "command")) {
        const severity = keychainSeverity(act);
        if (severity) yield actHit(act, { severity });
      }
    },
  },
  {
    id: "credentials.agent",
    family: "credentials",
    severity: "high",
    title: "The sign-in of an agent is read",
    explanation: "Files such as `~/.claude/.credentials.json` hold the tokens an agent itself works with.",
    help: "Use the model that the skill runs with; it needs no key of its own.",
    find: (skill) => findReads(skill, ["agent"], "high", "medium"),
  },
  {
    id: "credentials.process",
    family: "credentials",
    severity: "high",
    title: "The environment of processes is read from `/proc`",
    explanation:
      "It shows the secrets of programs that the skill was not given. There are plain ways to read one's own variables.",
    help: "Read the variable by its name, and declare it in `env`.",
    find: (skill) => findReads(skill, ["process"], "high", "medium"),
  },
  {
    id: "credentials.harvest",
    family: "credentials",
    severity: "medium",
    title: "All variables of the environment are gone through",
    explanation:
      "Code that looks through every variable for words such as `KEY` and `SECRET` collects what it was not given. Without such words it is `low`: some tools only print their settings.",
    help: "Read the variables that are needed, by name.",
    find: function* (skill) {
      for (const act of actsOf(skill, "read")) {
        if (act.target !== "environment") continue;
        const picks = /["'](?:[\w*]*_)?(?:KEY|SECRET|TOKEN|PASSW(?:OR)?D|CREDENTIAL\w*)["'*]/i.test(
          act.part.text.slice(Math.max(0, act.at - 600), act.at + 600),
        );
        yield actHit(act, { severity: picks ? "medium" : "info" });
      }
    },
  },
  {
    id: "credentials.spying",
    family: "credentials",
    severity: "high",
    title: "Clipboard, screen or keyboard are read, or a password is asked for in a window",
    explanation:
      "They show whatever a person does beside the task, passwords too. Recording keys and asking for passwords in a window of one's own are `high`; a single look at clipboard or screen is `low`, since some skills are for that.",
    help: "Let the user give the text or the picture.",
    find: findSpying,
  },
  {
    id: "credentials.environment-file",
    family: "credentials",
    severity: "medium",
    title: "The whole environment is written to a file",
    explanation:
      "All variables together hold every secret of a session; a file keeps them for whoever comes later.",
    help: "Write the variables that are needed, by name.",
    find: function* (skill) {
      for (const act of actsOf(skill, "write")) {
        if (hasTaint(act.taints, "environment"))
          yield actHit(act, { severity: "medium", detail: `to \`${act.target}\`` });
      }
    },
  },
];

const KEYLOGGERS =
  /\b(?:pynput\.keyboard|keyboard\.(?:on_press|hook|record|read_event)|Listener\(\s*on_press|GetAsyncKeyState|uiohook|iohook|CGEventTapCreate)\b/;

function* findSpying(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command")) if (asksPassword(act)) yield actHit(act, { severity: "high" });
  for (const act of actsOf(skill, "read")) {
    const isLook = /^(?:clipboard|screen|pyperclip\.|clipboardy\.|(?:PIL\.)?ImageGrab\.|pyautogui\.)/.test(
      act.target ?? "",
    );
    if (isLook) yield actHit(act, { severity: "low" });
  }
  for (const { path, text, language } of skill.files) {
    const at = language === undefined || text === undefined ? -1 : text.search(KEYLOGGERS);
    if (text === undefined || at === -1) continue;
    const lines = text.slice(0, at).split("\n");
    const isComment = /^\s*(?:#|\/\/|\*)/.test(lines.at(-1) ?? "");
    if (!isComment) yield { path, line: lines.length, seen: text.slice(at, at + 60) };
  }
}

function asksPassword({ words: [program = "", ...words] = [] }: Act): boolean {
  if (program === "osascript") return words.some((word) => /hidden answer/i.test(word));
  return /^(?:zenity|kdialog)$/.test(program) && words.includes("--password");
}

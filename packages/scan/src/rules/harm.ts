/**
 * Commands that cannot be undone, code that gives someone else control of the machine, and code that covers traces or
 * turns off protection.
 */
import { type Act, UNKNOWN } from "../code/code-part.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";
import {
  actHit,
  actsOf,
  findCommandHits,
  hasWord,
  isDocumented,
  moveSeverity,
  textFiles,
} from "./find-hits.ts";

/** The root, the home folder, or everything in one of them. */
const EVERYTHING =
  /^(?:\/|\/\*|~|~\/|~\/\*|\/(?:home|root|Users|etc|usr|var|bin|lib|opt|boot|System|Library)(?:\/\*?)?|[A-Z]:\\?\*?|%USERPROFILE%|\$env:USERPROFILE|\/\.\*|\.\.\/?\*?)$/i;
const SYSTEM_DEVICE = /^(?:of=)?\/dev\/(?:sd[a-z]|nvme\d|hd[a-z]|vd[a-z]|xvd[a-z]|disk\d|rdisk\d|mmcblk\d)/;

export const DESTRUCTIVE_RULES: RuleTable = {
  "destructive.delete-everything": {
    severity: "block",
    title: "Deletes the whole disk, the home folder or everything around the work folder",
    explanation:
      "No skill has a reason to do this. In a document it is `high`, since it may be shown as a warning.",
    help: "Delete only the intended folder, by its full path.",
    *find(skill) {
      for (const act of actsOf(skill, "delete", "command")) {
        const target = deletedEverything(act);
        if (target !== undefined) yield actHit(act, isDocumented(act) ? "high" : "block", `\`${target}\``);
      }
    },
  },
  "destructive.delete-variable": {
    severity: "low",
    title: "Deletes a path that depends on a variable that may be empty",
    explanation:
      '`rm -rf "$DIR/"*` deletes the root of the disk when `DIR` is empty. This is usually a mistake rather than an attack.',
    help: "Check the variable first, or write `:?` after its name so that the script stops when it is empty.",
    *find(skill) {
      for (const act of actsOf(skill, "delete")) {
        const [program, ...words] = act.words ?? [];
        const isForced = program === "rm" && hasWord(words, /^-\w*r/i);
        const target = words.find((word) => new RegExp(`^${UNKNOWN}/\\*?$`).test(word));
        if (isForced && target !== undefined && !/\$\{\w+:\?/.test(act.seen)) yield actHit(act, "low");
      }
    },
  },
  "destructive.device": {
    severity: "high",
    title: "Formats or overwrites a disk",
    explanation:
      "Everything on it is lost. Machine setup guides show such commands, so it is `medium` in documents.",
    help: "Leave it to the user, who knows which disk is which.",
    *find(skill) {
      for (const act of actsOf(skill, "command", "write"))
        if (overwritesDevice(act)) yield actHit(act, isDocumented(act) ? "medium" : "high");
    },
  },
  "destructive.permissions": {
    severity: "high",
    title: "Opens permissions of the whole system",
    explanation:
      "After `chmod -R 777 /`, every program can change every file, and the system no longer boots. Making a program run as root for everyone is as bad.",
    help: "Change only the intended file.",
    find: findPermissions,
  },
  "destructive.fork-bomb": {
    severity: "high",
    title: "Starts processes endlessly",
    explanation: "The machine stops responding.",
    help: "Do not use the skill.",
    find: (skill) => findCommandHits(skill, isForkBomb, "high"),
  },
  "destructive.force-push": {
    severity: "low",
    title: "Overwrites a repository's history",
    explanation:
      "`git push --force` removes other people's commits. It has honest uses, so it only deserves a look.",
    help: "Use `--force-with-lease`, and leave it to the user.",
    find: (skill) => findCommandHits(skill, isForcedPush, "low", "info"),
  },
  "destructive.database": {
    severity: "medium",
    title: "Deletes a whole database",
    explanation:
      "`DROP DATABASE` and similar commands delete everything at once. Guides show them for test databases, so it is `low` in documents.",
    help: "Leave it to the user.",
    find: (skill) => findCommandHits(skill, dropsDatabase, "medium", "low"),
  },
};

/** `:|:` within a function of that name. */
function isForkBomb(program: string, _: readonly string[], { seen, part }: Act): boolean {
  return seen.replace(/\s/g, "") === `${program}|${program}` && part.text.includes(`${program}()`);
}

function isForcedPush(program: string, [verb, ...words]: readonly string[]): boolean {
  const isForced = hasWord(words, /^(?:-f|--force|--mirror)$/);
  return program === "git" && verb === "push" && isForced;
}

function dropsDatabase(program: string, words: readonly string[]): boolean {
  if (program === "dropdb") return true;
  const isClient = /^(?:psql|mysql|mariadb|mongo|mongosh|redis-cli|sqlite3)$/.test(program);
  const drops = /\bdrop\s+(?:database|schema)\b|\bdropDatabase\(|^FLUSHALL$/i;
  return isClient && words.some((word) => drops.test(word));
}

function deletedEverything({ kind, words, target = "", content = "" }: Act): string | undefined {
  const [program = "", ...rest] = words ?? [];
  if (kind === "command") {
    const deletes =
      program === "find" &&
      (rest.includes("-delete") || /-exec rm\b/.test(rest.join(" "))) &&
      !hasWord(rest, /^-(?:i?name|mtime|empty|path|regex|maxdepth|size|newer\w*|mmin|iname)$/);
    return deletes && EVERYTHING.test(rest[0] ?? "") ? rest[0] : undefined;
  }
  if (words === undefined)
    return /rmtree|rimraf|rm/.test(content) && EVERYTHING.test(target) ? target : undefined;
  const isRecursive = program !== "rm" || hasWord(rest, /^-\w*[rR]|^--recursive/);
  return isRecursive ? rest.find((word) => EVERYTHING.test(word)) : undefined;
}

function overwritesDevice({ kind, words, target = "" }: Act): boolean {
  if (kind === "write") return SYSTEM_DEVICE.test(target);
  const [program = "", ...rest] = words ?? [];
  if (/^mkfs(?:\.\w+)?$|^(?:wipefs|shred|blkdiscard|sgdisk)$/.test(program))
    return rest.some((word) => SYSTEM_DEVICE.test(word));
  return program === "dd" && rest.some((word) => word.startsWith("of=") && SYSTEM_DEVICE.test(word));
}

function* findPermissions(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command")) {
    const [program = "", ...words] = act.words ?? [];
    if (!/^(?:chmod|chown)$/.test(program)) continue;
    const isRecursive = hasWord(words, /^-\w*R|^--recursive/);
    const target = words
      .filter((word) => !word.startsWith("-"))
      .slice(1)
      .find((word) => EVERYTHING.test(word));
    const isForRoot = program === "chmod" && hasWord(words, /^(?:[ugoa]*\+[rwx]*s|[246]\d{3})$/);
    if (isRecursive && target !== undefined)
      yield actHit(act, isDocumented(act) ? "medium" : "high", `\`${target}\``);
    else if (isForRoot && !hasWord(words, /^2\d{3}$|^g\+s$/))
      yield actHit(act, isDocumented(act) ? "low" : "medium");
  }
}

export const CONTROL_RULES: RuleTable = {
  "control.reverse-shell": {
    severity: "block",
    title: "Connects a shell to the network",
    explanation:
      "Whoever is at the other end can do anything on this machine. It has no honest use in a script; a document about attacks may show it, so there it is `high`.",
    help: "Do not use the skill.",
    find: findShells,
  },
  "control.tunnel": {
    severity: "medium",
    title: "Makes the machine reachable from outside",
    explanation:
      "A tunnel opens a local service to everyone who knows its address. This is common for testing web pages, so it is `medium` in scripts and `low` in documents.",
    help: "Leave the decision to the user.",
    find: (skill) => findCommandHits(skill, opensTunnel, "medium", "low"),
  },
  "control.miner": {
    severity: "block",
    title: "Starts a cryptocurrency miner",
    explanation: "It uses the machine for someone else's profit.",
    help: "Do not use the skill.",
    find: (skill) => findCommandHits(skill, mines, "block"),
  },
};

function opensTunnel(program: string, words: Words): boolean {
  return (
    (program === "ngrok" && /^(?:http|tcp|tls)$/.test(words[0] ?? "")) ||
    (program === "cloudflared" && words.includes("tunnel") && words.includes("--url")) ||
    (program === "ssh" && hasWord(words, /^-[a-zA-Z]*R/)) ||
    /^(?:localtunnel|lt|serveo|bore)$/.test(program)
  );
}

function mines(program: string, words: Words): boolean {
  const isPool = hasWord(words, /^stratum\+(?:tcp|ssl|tls):\/\//);
  return isPool || /^(?:xmrig|minerd|cpuminer|ethminer|nbminer|t-rex|phoenixminer)$/i.test(program);
}

function* findShells(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command", "send"))
    if (isReverseShell(act)) yield actHit(act, isDocumented(act) ? "high" : "block");
  for (const { language = "", path, text } of textFiles(skill)) {
    const pattern = SOCKET_SHELLS[language];
    if (pattern?.every((part) => part.test(text))) {
      const at = text.search(pattern[0] ?? /$/);
      yield { path, line: text.slice(0, at).split("\n").length, seen: text.slice(at, at + 120) };
    }
  }
}

/** A socket whose descriptors become those of a shell. */
const SOCKET_SHELLS: Readonly<Record<string, readonly RegExp[]>> = {
  python: [
    /\bos\.dup2\s*\(/,
    /\bsocket\.socket\s*\(/,
    /\b(?:pty\.spawn|subprocess\.\w+|os\.system|os\.execl?)\s*\(/,
  ],
  javascript: [/\.pipe\s*\(\s*\w+\.stdin\s*\)/, /\bnet\b/, /\.stdout\.pipe\s*\(/, /\bspawn\b|\bexec\b/],
};

function isReverseShell({ kind, words = [], seen, target = "" }: Act): boolean {
  const [program = "", ...rest] = words;
  if (kind === "send") return /^\/dev\/(?:tcp|udp)\//.test(target) && /\b(?:ba|z|da)?sh\b/.test(seen);
  if (/^(?:nc|ncat|netcat)$/.test(program))
    return hasWord(rest, /^-\w*[ec]$/) && hasWord(rest, /(?:sh|cmd(?:\.exe)?)$/);
  if (program === "socat") return hasWord(rest, /^exec:/i) && hasWord(rest, /^(?:tcp|openssl|udp)/i);
  if (/^(?:ba|z|da)?sh$/.test(program)) return rest.includes("-i") && /\/dev\/(?:tcp|udp)\//.test(seen);
  return program === "mkfifo" && /\|\s*(?:nc|ncat|openssl)\b|\bnc\b.*\bmkfifo\b/.test(seen);
}

type Words = readonly string[];
type IsMeant = (program: string, words: Words) => boolean;

const PROTECTIONS: readonly IsMeant[] = [
  (program, words) => program === "spctl" && hasWord(words, /^--(?:master|global)-disable$/),
  (program, words) => program === "csrutil" && words.includes("disable"),
  (program, words) => program === "setenforce" && /^(?:0|permissive)$/i.test(words[0] ?? ""),
  (program, words) => program === "ufw" && words.includes("disable"),
  (program, words) => program === "iptables" && hasWord(words, /^(?:-F|--flush)$/),
  (program, words) =>
    program === "systemctl" &&
    hasWord(words, /^(?:stop|disable|mask)$/) &&
    hasWord(words, /^(?:firewalld|ufw|apparmor|auditd|falcon-sensor|clamav\S*|fail2ban)/),
  (program, words) => /^(?:Set-MpPreference)$/i.test(program) && hasWord(words, /^-Disable/i),
  (program, words) => /^Add-MpPreference$/i.test(program) && hasWord(words, /^-ExclusionPath/i),
  (program, words) => /^netsh$/i.test(program) && /firewall.*(?:off|disable)/i.test(words.join(" ")),
];

const TRACES: readonly IsMeant[] = [
  (program, words) => program === "history" && hasWord(words, /^-\w*c/),
  (program, words) =>
    /^(?:rm|shred|truncate)$/.test(program) &&
    hasWord(words, /\.(?:bash|zsh)_history$|^\/var\/log\/(?:auth|secure|syslog|wtmp|btmp)/),
  (program, words) => program === "unset" && words.includes("HISTFILE"),
  (program, words) => /^(?:wevtutil)$/i.test(program) && hasWord(words, /^cl$/i),
  (program, words) => program === "journalctl" && hasWord(words, /^--vacuum-(?:time|size)=(?:1s|0|1)/),
];

function anyOf(checks: readonly IsMeant[]): IsMeant {
  return (program, words) => checks.some((check) => check(program, words));
}

export const EVASION_RULES: RuleTable = {
  "evasion.protection-off": {
    severity: "high",
    title: "Turns off a system protection",
    explanation:
      "Only the user may turn off firewalls, Gatekeeper, SELinux or virus scanners. Administration guides show it, so it is `medium` in documents.",
    help: "Say what you need, and let the user decide.",
    find: (skill) => findCommandHits(skill, anyOf(PROTECTIONS), "high", "medium"),
  },
  "evasion.quarantine": {
    severity: "high",
    title: "Removes the quarantine mark of a download, so that it runs without a prompt",
    explanation:
      "macOS asks before it runs a download; `xattr -d com.apple.quarantine` skips that question. With a download in the same file this is how malware gets in: `high` in scripts and `medium` in documents, otherwise one step milder.",
    help: "Let the user open the program once manually.",
    *find(skill) {
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        const takesOff =
          (program === "xattr" &&
            hasWord(words, /^-\w*[dc]/) &&
            (words.includes("com.apple.quarantine") || hasWord(words, /^-\w*c/))) ||
          /^Unblock-File$/i.test(program);
        if (!takesOff) continue;
        const fetches = actsOf(skill, "fetch").some((fetch) => fetch.part.path === act.part.path);
        const severity = isDocumented(act) ? "low" : "medium";
        yield actHit(act, fetches ? moveSeverity(severity, 1) : severity);
      }
    },
  },
  "evasion.traces": {
    severity: "medium",
    title: "Wipes traces of its actions",
    explanation: "The shell history and system logs show what happened. An honest script leaves them alone.",
    help: "Leave history and logs as they are.",
    find: (skill) => findCommandHits(skill, anyOf(TRACES), "medium", "low"),
  },
};

/** Code that hands the machine to someone else: reverse shells, tunnels, miners. */
import type { Act } from "../code/act.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented } from "./act-hits.ts";

export const CONTROL_RULES: readonly ScanRule[] = [
  {
    id: "control.reverse-shell",
    family: "control",
    severity: "block",
    title: "A shell is connected to the network",
    explanation:
      "Whoever is at the other end can do anything on this machine. There is no honest use of it in a script; in a document about attacks it may be shown, so there it is `high`.",
    help: "Do not use the skill.",
    find: findShells,
  },
  {
    id: "control.tunnel",
    family: "control",
    severity: "medium",
    title: "The machine is made reachable from outside",
    explanation:
      "A tunnel opens a local service to everyone who knows its address. For trying out web pages that is usual, so it is `medium` in scripts and `low` in documents.",
    help: "Leave the decision to the user.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        const opens =
          (program === "ngrok" && /^(?:http|tcp|tls)$/.test(words[0] ?? "")) ||
          (program === "cloudflared" && words.includes("tunnel") && words.includes("--url")) ||
          (program === "ssh" && words.some((word) => /^-[a-zA-Z]*R/.test(word))) ||
          /^(?:localtunnel|lt|serveo|bore)$/.test(program);
        if (opens) yield actHit(act, { severity: isDocumented(act) ? "low" : "medium" });
      }
    },
  },
  {
    id: "control.miner",
    family: "control",
    severity: "block",
    title: "A cryptocurrency miner is started",
    explanation: "It uses the machine for someone else.",
    help: "Do not use the skill.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        const isPool = words.some((word) => /^stratum\+(?:tcp|ssl|tls):\/\//.test(word));
        if (isPool || /^(?:xmrig|minerd|cpuminer|ethminer|nbminer|t-rex|phoenixminer)$/i.test(program))
          yield actHit(act, { severity: "block" });
      }
    },
  },
];

function* findShells(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command", "send"))
    if (isReverseShell(act)) yield actHit(act, { severity: isDocumented(act) ? "high" : "block" });
  for (const { language, path, text } of skill.files) {
    if (text === undefined || language === undefined) continue;
    const pattern = language === "python" ? PYTHON_SHELL : language === "javascript" ? NODE_SHELL : undefined;
    if (pattern?.every((part) => part.test(text))) {
      const at = text.search(pattern[0] ?? /$/);
      yield { path, line: text.slice(0, at).split("\n").length, seen: text.slice(at, at + 120) };
    }
  }
}

/** A socket whose descriptors become those of a shell. */
const PYTHON_SHELL: readonly RegExp[] = [
  /\bos\.dup2\s*\(/,
  /\bsocket\.socket\s*\(/,
  /\b(?:pty\.spawn|subprocess\.\w+|os\.system|os\.execl?)\s*\(/,
];
const NODE_SHELL: readonly RegExp[] = [
  /\.pipe\s*\(\s*\w+\.stdin\s*\)/,
  /\bnet\b/,
  /\.stdout\.pipe\s*\(/,
  /\bspawn\b|\bexec\b/,
];

function isReverseShell({ kind, words = [], seen, target = "" }: Act): boolean {
  const [program = "", ...rest] = words;
  if (kind === "send") return /^\/dev\/(?:tcp|udp)\//.test(target) && /\b(?:ba|z|da)?sh\b/.test(seen);
  if (/^(?:nc|ncat|netcat)$/.test(program))
    return (
      rest.some((word) => /^-\w*[ec]$/.test(word)) && rest.some((word) => /(?:sh|cmd(?:\.exe)?)$/.test(word))
    );
  if (program === "socat")
    return (
      rest.some((word) => /^exec:/i.test(word)) && rest.some((word) => /^(?:tcp|openssl|udp)/i.test(word))
    );
  if (/^(?:ba|z|da)?sh$/.test(program)) return rest.includes("-i") && /\/dev\/(?:tcp|udp)\//.test(seen);
  return program === "mkfifo" && /\|\s*(?:nc|ncat|openssl)\b|\bnc\b.*\bmkfifo\b/.test(seen);
}

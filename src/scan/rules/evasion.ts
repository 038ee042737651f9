/** Code that switches off what protects the machine, or that wipes its own traces. */
import type { Act } from "../code/act.ts";
import type { ScanRule } from "../rule.ts";
import { actHit, actsOf, isDocumented, stepUp } from "./act-hits.ts";

type Words = readonly string[];

const PROTECTIONS: readonly ((program: string, words: Words) => boolean)[] = [
  (program, words) => program === "spctl" && words.some((word) => /^--(?:master|global)-disable$/.test(word)),
  (program, words) => program === "csrutil" && words.includes("disable"),
  (program, words) => program === "setenforce" && /^(?:0|permissive)$/i.test(words[0] ?? ""),
  (program, words) => program === "ufw" && words.includes("disable"),
  (program, words) => program === "iptables" && words.some((word) => /^(?:-F|--flush)$/.test(word)),
  (program, words) =>
    program === "systemctl" &&
    words.some((word) => /^(?:stop|disable|mask)$/.test(word)) &&
    words.some((word) => /^(?:firewalld|ufw|apparmor|auditd|falcon-sensor|clamav\S*|fail2ban)/.test(word)),
  (program, words) =>
    /^(?:Set-MpPreference)$/i.test(program) && words.some((word) => /^-Disable/i.test(word)),
  (program, words) =>
    /^Add-MpPreference$/i.test(program) && words.some((word) => /^-ExclusionPath/i.test(word)),
  (program, words) => /^netsh$/i.test(program) && /firewall.*(?:off|disable)/i.test(words.join(" ")),
];

const TRACES: readonly ((program: string, words: Words, act: Act) => boolean)[] = [
  (program, words) => program === "history" && words.some((word) => /^-\w*c/.test(word)),
  (program, words) =>
    /^(?:rm|shred|truncate)$/.test(program) &&
    words.some((word) => /\.(?:bash|zsh)_history$|^\/var\/log\/(?:auth|secure|syslog|wtmp|btmp)/.test(word)),
  (program, words) => program === "unset" && words.includes("HISTFILE"),
  (program, words) => /^(?:wevtutil)$/i.test(program) && words.some((word) => /^cl$/i.test(word)),
  (program, words) =>
    program === "journalctl" && words.some((word) => /^--vacuum-(?:time|size)=(?:1s|0|1)/.test(word)),
];

function asks(act: Act, checks: readonly ((program: string, words: Words, act: Act) => boolean)[]): boolean {
  const [program = "", ...words] = act.words ?? [];
  return checks.some((check) => check(program, words, act));
}

export const EVASION_RULES: readonly ScanRule[] = [
  {
    id: "evasion.protection-off",
    family: "evasion",
    severity: "high",
    title: "A protection of the system is switched off",
    explanation:
      "Firewalls, Gatekeeper, SELinux and virus scanners are the user's to switch off. Guides for administrators show it, so it is `medium` in documents.",
    help: "Say what is needed, and let the user decide.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command"))
        if (asks(act, PROTECTIONS)) yield actHit(act, { severity: isDocumented(act) ? "medium" : "high" });
    },
  },
  {
    id: "evasion.quarantine",
    family: "evasion",
    severity: "high",
    title: "The mark of a download is taken off, so that it runs unasked",
    explanation:
      "macOS asks before it runs what was downloaded; `xattr -d com.apple.quarantine` takes the question away. With a download in the same file it is how malware gets in: `high` in scripts and `medium` in documents, otherwise a step milder.",
    help: "Let the user open the program once by hand.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        const takesOff =
          (program === "xattr" &&
            words.some((word) => /^-\w*[dc]/.test(word)) &&
            (words.includes("com.apple.quarantine") || words.some((word) => /^-\w*c/.test(word)))) ||
          /^Unblock-File$/i.test(program);
        if (!takesOff) continue;
        const fetches = actsOf(skill, "fetch").some((fetch) => fetch.part.path === act.part.path);
        const severity = isDocumented(act) ? "low" : "medium";
        yield actHit(act, { severity: fetches ? stepUp(severity) : severity });
      }
    },
  },
  {
    id: "evasion.traces",
    family: "evasion",
    severity: "medium",
    title: "Traces of what was done are wiped",
    explanation:
      "The history of a shell and the logs of the system show afterwards what happened. An honest script leaves them alone.",
    help: "Leave history and logs as they are.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command"))
        if (asks(act, TRACES)) yield actHit(act, { severity: isDocumented(act) ? "low" : "medium" });
    },
  },
];

/** Code that stays: it arranges to run later, or to be obeyed later. */

import type { ScanSeverity } from "../../config/scan-fields.ts";
import type { Act } from "../code/act.ts";
import { type LastingKind, lastingKindOf } from "../code/sensitive-paths.ts";
import { hasTaint } from "../code/taint.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented } from "./act-hits.ts";

interface Grades {
  readonly inScript: ScanSeverity;
  readonly inDocument: ScanSeverity;
}

/** What is written there comes from the network or in disguise, or fetches more. */
function isLoaded({ taints, content = "", seen }: Act): boolean {
  return (
    hasTaint(taints, "remote", "decoded") ||
    /\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\beval\b.*\b(?:curl|base64)\b|\/dev\/tcp\/|\bnc\s+-/.test(
      `${content}\n${seen}`,
    )
  );
}

function* findWrites(
  skill: ScannedSkill,
  kind: LastingKind,
  { inScript, inDocument }: Grades,
): Iterable<Hit> {
  for (const act of actsOf(skill, "write")) {
    if (lastingKindOf(act.target ?? "") !== kind) continue;
    const severity = isLoaded(act) ? "high" : isDocumented(act) ? inDocument : inScript;
    yield actHit(act, { severity, detail: `\`${act.target}\`` });
  }
}

const SCHEDULERS: readonly ((program: string, words: readonly string[]) => boolean)[] = [
  (program, words) => program === "crontab" && !words.some((word) => /^-[lr]$/.test(word)),
  (program, words) => program === "systemctl" && words.includes("enable"),
  (program, words) =>
    program === "launchctl" && words.some((word) => /^(?:load|bootstrap|enable)$/.test(word)),
  (program, words) => program === "schtasks" && words.some((word) => /^\/create$/i.test(word)),
  (program, words) =>
    program === "reg" && words[0] === "add" && words.some((word) => /CurrentVersion\\+Run/i.test(word)),
  (program, words) => program === "at" && words.some((word) => /^(?:now|-f|\d{1,2}:\d{2})$/.test(word)),
  (program) => /^(?:Register-ScheduledTask|New-ScheduledTask)$/i.test(program),
];

export const PERSISTENCE_RULES: readonly ScanRule[] = [
  {
    id: "persistence.authorized-keys",
    family: "persistence",
    severity: "block",
    title: "A key is added that may sign in to this machine",
    explanation:
      "Whoever has the other half of the key can come back at any time. Guides for servers show it, so it is `medium` in documents.",
    help: "Do not use the skill, unless setting up servers is what it is for.",
    find: (skill) => findWrites(skill, "authorized-keys", { inScript: "block", inDocument: "medium" }),
  },
  {
    id: "persistence.shell-profile",
    family: "persistence",
    severity: "high",
    title: "Something is written to a file that every shell runs",
    explanation:
      "What stands there runs in every terminal from then on. A line for `PATH` is usual, so it is `medium` in scripts and `low` in documents, and `high` where the line fetches or decodes something.",
    help: "Show the line to the user instead of writing it.",
    find: (skill) => findWrites(skill, "shell-profile", { inScript: "medium", inDocument: "low" }),
  },
  {
    id: "persistence.scheduled",
    family: "persistence",
    severity: "high",
    title: "Something is arranged to run later by itself",
    explanation:
      "Cron, systemd, launch agents and start-up folders run without anyone asking, also when the skill is gone. `medium` in scripts, `low` in documents, `high` where what runs is fetched or decoded.",
    help: "Leave the schedule to the user.",
    find: function* (skill) {
      yield* findWrites(skill, "scheduled", { inScript: "medium", inDocument: "low" });
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        if (!SCHEDULERS.some((schedules) => schedules(program, words))) continue;
        yield actHit(act, { severity: isLoaded(act) ? "high" : isDocumented(act) ? "low" : "medium" });
      }
    },
  },
  {
    id: "persistence.git-hook",
    family: "persistence",
    severity: "medium",
    title: "A hook of git is written",
    explanation: "It runs at every commit or push in that repository, for everyone who works there.",
    help: "Let the user install the hook.",
    find: (skill) => findWrites(skill, "git-hook", { inScript: "medium", inDocument: "low" }),
  },
  {
    id: "persistence.agent-config",
    family: "persistence",
    severity: "high",
    title: "The settings or the memory of an agent are changed",
    explanation:
      "What is written to `CLAUDE.md`, `.mcp.json` or an agent's settings is obeyed in every later session, with more rights than the skill has. Skills that set up projects do so openly: `medium` in scripts, `low` in documents, `high` where permissions, hooks or something fetched is written.",
    help: "Show the change to the user instead of making it.",
    find: findAgentConfig,
  },
];

/** Where an agent's hooks are declared, and how they are called. */
const SETTINGS = /settings(?:\.local)?\.json|hooks\.json|\.claude\/hooks\/|\.codex\/config\.toml/;
const HOOKS = /\bhooks\b|\b(?:PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|SubagentStop)\b/;

/** What is put there is often made elsewhere in the script, or lies beside it as a file. */
function addsHooks({ target = "", part }: Act, { files }: ScannedSkill): boolean {
  if (!SETTINGS.test(target)) return false;
  return (
    HOOKS.test(part.text) ||
    files.some(({ path, text = "" }) => /(?:settings|hooks)[\w.-]*\.json$/.test(path) && HOOKS.test(text))
  );
}

function* findAgentConfig(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "write")) {
    if (lastingKindOf(act.target ?? "") !== "agent-config") continue;
    const grants =
      /\b(?:bypassPermissions|dangerously\w*|permissions?\b[^\n]*\ballow|hooks?["']?\s*:|enableAllProjectMcpServers|trust\w*["']?\s*:\s*true)/i.test(
        `${act.content ?? ""}\n${act.seen}`,
      );
    const isPowerful = grants || addsHooks(act, skill);
    const severity =
      isLoaded(act) || (isPowerful && !isDocumented(act)) ? "high" : isDocumented(act) ? "low" : "medium";
    yield actHit(act, { severity, detail: `\`${act.target}\`` });
  }
}

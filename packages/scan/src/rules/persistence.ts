/** Code that stays: it arranges to run later, or to be obeyed later. */
import type { ScanSeverity } from "@metier/skills/config";
import { type Act, hasTaint } from "../code/code-part.ts";
import { type LastingKind, lastingKindOf } from "../code/known-secrets.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, hasWord, isDocumented, proseMatches, wholeProse } from "./find-hits.ts";
import { mayMatch, withWords } from "./prose-words.ts";

const FETCHES =
  /\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\beval\b.*\b(?:curl|base64)\b|\/dev\/tcp\/|\bnc\s+-/;

/** Worst if what is written comes from the network or is encoded, or fetches more. */
function gradeLasting(act: Act, inScript: ScanSeverity, inDocument: ScanSeverity): ScanSeverity {
  const { taints, content = "", seen } = act;
  if (hasTaint(taints, "remote", "decoded") || FETCHES.test(`${content}\n${seen}`)) return "high";
  return isDocumented(act) ? inDocument : inScript;
}

function* findWrites(
  skill: ScannedSkill,
  kind: LastingKind,
  inScript: ScanSeverity = "medium",
  inDocument: ScanSeverity = "low",
): Iterable<Hit> {
  for (const act of actsOf(skill, "write")) {
    if (lastingKindOf(act.target ?? "") !== kind) continue;
    yield actHit(act, gradeLasting(act, inScript, inDocument), `\`${act.target}\``);
  }
}

const SCHEDULERS: readonly ((program: string, words: readonly string[]) => boolean)[] = [
  (program, words) => program === "crontab" && !hasWord(words, /^-[lr]$/),
  (program, words) => program === "systemctl" && words.includes("enable"),
  (program, words) => program === "launchctl" && hasWord(words, /^(?:load|bootstrap|enable)$/),
  (program, words) => program === "schtasks" && hasWord(words, /^\/create$/i),
  (program, words) => program === "reg" && words[0] === "add" && hasWord(words, /CurrentVersion\\+Run/i),
  (program, words) => program === "at" && hasWord(words, /^(?:now|-f|\d{1,2}:\d{2})$/),
  (program) => /^(?:Register-ScheduledTask|New-ScheduledTask)$/i.test(program),
];

export const PERSISTENCE_RULES: RuleTable = {
  "persistence.authorized-keys": {
    severity: "block",
    title: "Adds a key that can sign in to this machine",
    explanation:
      "Whoever has the other half of the key can come back at any time. Server guides show it, so it is `medium` in documents.",
    help: "Do not use the skill unless its purpose is to set up servers.",
    find: (skill) => findWrites(skill, "authorized-keys", "block", "medium"),
  },
  "persistence.shell-profile": {
    severity: "high",
    title: "Writes to a file that every shell runs",
    explanation:
      "The new lines run in every terminal from now on. A `PATH` line is common, so it is `medium` in scripts and `low` in documents, and `high` if the line fetches or decodes something.",
    help: "Show the line to the user instead of writing it.",
    find: (skill) => findWrites(skill, "shell-profile"),
  },
  "persistence.scheduled": {
    severity: "high",
    title: "Schedules something to run later",
    explanation:
      "Cron, systemd, launch agents and startup folders run without asking, even after the skill is gone. `medium` in scripts, `low` in documents, `high` if what runs is fetched or decoded.",
    help: "Leave the schedule to the user.",
    *find(skill) {
      yield* findWrites(skill, "scheduled");
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        if (!SCHEDULERS.some((schedules) => schedules(program, words))) continue;
        yield actHit(act, gradeLasting(act, "medium", "low"));
      }
    },
  },
  "persistence.git-hook": {
    severity: "medium",
    title: "Writes a git hook",
    explanation: "It runs on every commit or push in that repository, for everyone who works there.",
    help: "Let the user install the hook.",
    find: (skill) => findWrites(skill, "git-hook"),
  },
  "persistence.agent-config": {
    severity: "high",
    title: "Changes an agent's settings or memory",
    explanation:
      "Agents obey `CLAUDE.md`, `.mcp.json` and their settings in every later session, with more rights than the skill has. Project setup skills do this openly: `medium` in scripts, `low` in documents, `high` if it writes permissions, hooks or something fetched.",
    help: "Show the change to the user instead of making it.",
    find: findAgentConfig,
  },
  "persistence.memory-in-prose": {
    severity: "high",
    title: "Tells the model to write instructions or memory for later sessions",
    explanation:
      "Agents obey `AGENTS.md`, `CLAUDE.md` or a memory long after the skill is gone. Project setup skills do this: `low`; `medium` if it is meant for every session; `high` if it happens behind the user's back or includes an address. It does not count if the user is asked.",
    help: "Show the user the text, and let them write it.",
    find: findMemoryWrites,
  },
};

/** Where an agent's hooks are declared, and their names. */
const SETTINGS = /settings(?:\.local)?\.json|hooks\.json|\.claude\/hooks\/|\.codex\/config\.toml/;
const HOOKS = /\bhooks\b|\b(?:PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|SubagentStop)\b/;

/** What is put there is often built elsewhere in the script, or is a file next to it. */
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
    yield actHit(act, gradeLasting(act, isPowerful ? "high" : "medium", "low"), `\`${act.target}\``);
  }
}

const MEMORY_WRITE = withWords(
  /\b(?:append|add|write|insert|save|store|put|record|persist|inject|prepend|paste)\b[^.!?\n]{0,120}?\b(?:in(?:to|side)?|to|at\s+the\s+(?:end|top|beginning)\s+of|on)\s+(?:(?:the|a|your|its|my|their|every|any|all|project|root|global|local|user|agent|assistant|model|long[- ]term|persistent|permanent)(?:['’]s)?\s+){0,5}[`"“*]*(?:~\/|\.\/)?(?:\.claude\/|\.codex\/)?(?:(?:AGENTS|CLAUDE|GEMINI|SOUL|MEMORY|HEARTBEAT)\.md\b|copilot-instructions\.md\b|\.cursorrules\b|\.windsurfrules\b|memory\s+(?:file|store|bank)s?\b|(?:long[- ]term|persistent|permanent)\s+memory\b|(?<=\b(?:your|agent['’]s|assistant['’]s|model['’]s)\s)memory\b)/gi,
  ["agen clau gemi soul memo hear copi curs wind"],
);

/** A person decides. */
const ASKED =
  /\b(?:ask|asks|asked|offer|suggest\w*|propose\w*|recommend\w*|confirm\w*|with\s+(?:the\s+user['’]s\s+)?(?:permission|approval|consent)|if\s+(?:the\s+user|you|they)\s+(?:wants?|asks?|agrees?|likes?|prefers?)|users?\s+(?:can|may|should))\b/i;
const LASTING =
  /\b(?:always|every|each|all|any|future|later|subsequent|next)\s+(?:\w+\s+){0,2}?(?:sessions?|conversations?|chats?|tasks?|runs?|requests?|times?)\b|\bpersist\w*\b|\bpermanent\w*\b|\bsurviv\w+\b|\bforever\b|\bthis\s+skill\b[^.]{0,40}\b(?:first|always|must)\b|[:“"`]\s*(?:Always|Never|You\s+must)\b/i;
const BEHIND_THE_BACK =
  /\b(?:silently|secretly|quietly|without\s+(?:asking|telling|informing|mentioning|notifying|confirmation)|do\s+not\s+(?:tell|mention|inform|ask|show)|don['’]t\s+(?:tell|mention|inform|ask|show)|hidden|regardless)\b|\b(?:curl|wget)\b|https?:\/\//i;

/** Without one of these there is nothing to find. */
const NAMED = /(?:AGENTS|CLAUDE|GEMINI|SOUL|MEMORY|HEARTBEAT|instructions)\.md|rules\b|memory/i;

function* findMemoryWrites(skill: ScannedSkill): Iterable<Hit> {
  const whole = wholeProse(skill);
  if (!mayMatch(MEMORY_WRITE, whole) || !NAMED.test(whole.text)) return;
  for (const { path, line, seen, around } of proseMatches(skill, MEMORY_WRITE)) {
    if (ASKED.test(seen)) continue;
    yield { path, line, seen, severity: gradeWrite(around) };
  }
}

function gradeWrite(around: string): ScanSeverity {
  if (BEHIND_THE_BACK.test(around)) return "high";
  return LASTING.test(around) ? "medium" : "low";
}

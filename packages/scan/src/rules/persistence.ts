/** Code that stays: it arranges to run later, or to be obeyed later. */
import type { ScanSeverity } from "@metier/skills/config";
import { type Act, hasTaint } from "../code/code-part.ts";
import { type LastingKind, lastingKindOf } from "../code/known-secrets.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, hasWord, isDocumented, proseMatches, wholeProse } from "./find-hits.ts";
import { withWords } from "./prose-words.ts";

const FETCHES =
  /\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\beval\b.*\b(?:curl|base64)\b|\/dev\/tcp\/|\bnc\s+-/;

/** Worst where what is written comes from the network or in disguise, or fetches more. */
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
    title: "A key is added that may sign in to this machine",
    explanation:
      "Whoever has the other half of the key can come back at any time. Guides for servers show it, so it is `medium` in documents.",
    help: "Do not use the skill, unless setting up servers is what it is for.",
    find: (skill) => findWrites(skill, "authorized-keys", "block", "medium"),
  },
  "persistence.shell-profile": {
    severity: "high",
    title: "Something is written to a file that every shell runs",
    explanation:
      "What stands there runs in every terminal from then on. A line for `PATH` is usual, so it is `medium` in scripts and `low` in documents, and `high` where the line fetches or decodes something.",
    help: "Show the line to the user instead of writing it.",
    find: (skill) => findWrites(skill, "shell-profile"),
  },
  "persistence.scheduled": {
    severity: "high",
    title: "Something is arranged to run later by itself",
    explanation:
      "Cron, systemd, launch agents and start-up folders run without anyone asking, also when the skill is gone. `medium` in scripts, `low` in documents, `high` where what runs is fetched or decoded.",
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
    title: "A hook of git is written",
    explanation: "It runs at every commit or push in that repository, for everyone who works there.",
    help: "Let the user install the hook.",
    find: (skill) => findWrites(skill, "git-hook"),
  },
  "persistence.agent-config": {
    severity: "high",
    title: "The settings or the memory of an agent are changed",
    explanation:
      "What is written to `CLAUDE.md`, `.mcp.json` or an agent's settings is obeyed in every later session, with more rights than the skill has. Skills that set up projects do so openly: `medium` in scripts, `low` in documents, `high` where permissions, hooks or something fetched is written.",
    help: "Show the change to the user instead of making it.",
    find: findAgentConfig,
  },
  "persistence.memory-in-prose": {
    severity: "high",
    title: "The text tells the model to write into instructions or a memory of later sessions",
    explanation:
      "What stands in `AGENTS.md`, `CLAUDE.md` or a memory is obeyed when the skill is long gone. Skills that set up projects do so: `low`; `medium` where it is to hold for every session; `high` where it happens behind the user's back or brings an address along. Where the user is asked, it is not counted.",
    help: "Show the user what is to be written, and let them write it.",
    find: findMemoryWrites,
  },
};

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

/** Without one of these there is nothing to look for. */
const NAMED = /(?:AGENTS|CLAUDE|GEMINI|SOUL|MEMORY|HEARTBEAT|instructions)\.md|rules\b|memory/i;

function* findMemoryWrites(skill: ScannedSkill): Iterable<Hit> {
  if (!NAMED.test(wholeProse(skill).text)) return;
  for (const { path, line, seen, around } of proseMatches(skill, MEMORY_WRITE)) {
    if (ASKED.test(seen)) continue;
    yield { path, line, seen, severity: gradeWrite(around) };
  }
}

function gradeWrite(around: string): ScanSeverity {
  if (BEHIND_THE_BACK.test(around)) return "high";
  return LASTING.test(around) ? "medium" : "low";
}

/** Texts that tell the model to write into what every later session obeys: `AGENTS.md`, `CLAUDE.md`, its memory. */
import type { ScanSeverity } from "../../config/scan-fields.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { proseMatches, wholeProse } from "./prose.ts";

const MEMORY_WRITE =
  /\b(?:append|add|write|insert|save|store|put|record|persist|inject|prepend|paste)\b[^.!?\n]{0,120}?\b(?:in(?:to|side)?|to|at\s+the\s+(?:end|top|beginning)\s+of|on)\s+(?:(?:the|a|your|its|my|their|every|any|all|project|root|global|local|user|agent|assistant|model|long[- ]term|persistent|permanent)(?:['’]s)?\s+){0,5}[`"“*]*(?:~\/|\.\/)?(?:\.claude\/|\.codex\/)?(?:(?:AGENTS|CLAUDE|GEMINI|SOUL|MEMORY|HEARTBEAT)\.md\b|copilot-instructions\.md\b|\.cursorrules\b|\.windsurfrules\b|memory\s+(?:file|store|bank)s?\b|(?:long[- ]term|persistent|permanent)\s+memory\b|(?<=\b(?:your|agent['’]s|assistant['’]s|model['’]s)\s)memory\b)/gi;

/** A person decides. */
const ASKED =
  /\b(?:ask|asks|asked|offer|suggest\w*|propose\w*|recommend\w*|confirm\w*|with\s+(?:the\s+user['’]s\s+)?(?:permission|approval|consent)|if\s+(?:the\s+user|you|they)\s+(?:wants?|asks?|agrees?|likes?|prefers?)|users?\s+(?:can|may|should))\b/i;
const LASTING =
  /\b(?:always|every|each|all|any|future|later|subsequent|next)\s+(?:\w+\s+){0,2}?(?:sessions?|conversations?|chats?|tasks?|runs?|requests?|times?)\b|\bpersist\w*\b|\bpermanent\w*\b|\bsurviv\w+\b|\bforever\b|\bthis\s+skill\b[^.]{0,40}\b(?:first|always|must)\b|[:“"`]\s*(?:Always|Never|You\s+must)\b/i;
const BEHIND_THE_BACK =
  /\b(?:silently|secretly|quietly|without\s+(?:asking|telling|informing|mentioning|notifying|confirmation)|do\s+not\s+(?:tell|mention|inform|ask|show)|don['’]t\s+(?:tell|mention|inform|ask|show)|hidden|regardless)\b|\b(?:curl|wget)\b|https?:\/\//i;

export const MEMORY_RULES: readonly ScanRule[] = [
  {
    id: "persistence.memory-in-prose",
    family: "persistence",
    severity: "high",
    title: "The text tells the model to write into instructions or a memory of later sessions",
    explanation:
      "What stands in `AGENTS.md`, `CLAUDE.md` or a memory is obeyed when the skill is long gone. Skills that set up projects do so: `low`; `medium` where it is to hold for every session; `high` where it happens behind the user's back or brings an address along. Where the user is asked, it is not counted.",
    help: "Show the user what is to be written, and let them write it.",
    find: findMemoryWrites,
  },
];

/** Without one of these there is nothing to look for. */
const NAMED = /(?:AGENTS|CLAUDE|GEMINI|SOUL|MEMORY|HEARTBEAT|instructions)\.md|rules\b|memory/i;

function* findMemoryWrites(skill: ScannedSkill): Iterable<Hit> {
  if (!NAMED.test(wholeProse(skill))) return;
  for (const { path, line, seen, around } of proseMatches(skill, MEMORY_WRITE)) {
    if (ASKED.test(seen)) continue;
    yield { path, line, seen, severity: gradeWrite(around) };
  }
}

function gradeWrite(around: string): ScanSeverity {
  if (BEHIND_THE_BACK.test(around)) return "high";
  return LASTING.test(around) ? "medium" : "low";
}

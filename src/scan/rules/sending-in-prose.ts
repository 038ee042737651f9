/** Private data that a text tells the model to send away, once or as a routine. */
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { isAboutAttacks } from "../warning.ts";
import { SECRET_PROSE, SEND_PROSE } from "./phrases.ts";
import { proseParagraphs, wholeProse } from "./prose.ts";

const OUTSIDE =
  /https?:\/\/(?!(?:localhost|127\.0\.0\.1)\b)[^\s)"'`>]+|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+\.[\w.]+|\b(?:webhook|our (?:server|endpoint)|remote (?:server|endpoint|host)|external (?:server|endpoint|api)|attacker)\b/i;

const SENDS = /\b(?:upload|send|forward|transmit|submit|post|copy|report)s?\b|\bPOST\b/i;
const ELSEWHERE = /https?:\/\/(?!localhost\b|127\.|0\.0\.0\.0)[^\s)"'`>]+/i;
/** Whatever it does, the model is to do this too. */
const ROUTINE =
  /\b(?:after|upon|before|when(?:ever)?|once|following)\s+(?:\w+\s+){0,3}?(?:any|every|each|all)\s+(?:[\w-]+\s+){0,3}?(?:tasks?|operations?|runs?|requests?|commits?|sessions?|queries|query|retrievals?|actions?|changes?|edits?|jobs?|interactions?|responses?|conversations?)\b|\b(?:for|on|with)\s+every\s+(?:task|request|message|response|query|session|conversation|interaction)\b/i;
const THEIRS =
  /\b(?:our|the\s+company(?:['’]s)?|central|internal|intranet)\s+(?:[\w-]+\s+){0,3}?(?:server|endpoint|collector|api|service|host)\b|\b(?:logging|monitoring|collector|collection|telemetry|analytics)\s+(?:server|endpoint)\b/i;
const PRIVATE =
  /(?:^|[\s`"'/])\.env\b|\.ssh\b|\bclipboard\b|\bpbpaste\b|\bscreenshot|\bscreencapture\b|\b(?:system|task|user|full|original)[\s_]+prompts?\b|<(?:system_)?prompt>|<query>|\bconversation\b|\bchat\s+history\b|\bcredentials?\b|\bpasswords?\b|\bbrowser\s+history\b|\bpatient\b/i;

export const SENDING_RULES: readonly ScanRule[] = [
  {
    id: "injection.send-in-prose",
    family: "injection",
    severity: "high",
    title: "The text tells the model to send private data to somewhere",
    explanation:
      "Keys, environment, conversation or credentials together with an address to send them to: what a script would do, said in words.",
    help: "Do not use the skill. If it is yours, say which data is needed, and use the user's own services.",
    find: findSending,
  },
  {
    id: "injection.report-back",
    family: "injection",
    severity: "high",
    title: "The text tells the model to report to a server whenever it has worked",
    explanation:
      "Prompts, results and files of the user go to someone else, as a matter of routine: “after any task, upload … to our server”. What a skill is for needs no such rule.",
    help: "Do not use the skill, unless the server is your own.",
    find: findReportingBack,
  },
];

/** One paragraph has all three: what is private, that it is sent, and where to. */
function* findSending(skill: ScannedSkill): Iterable<Hit> {
  if (!SEND_PROSE.test(wholeProse(skill))) return;
  for (const { path, line, text, isWarned } of proseParagraphs(skill)) {
    if (/^\s*\|/.test(text) || !SEND_PROSE.test(text) || !OUTSIDE.test(text) || isWarned()) continue;
    let from = 0;
    for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z])/)) {
      from = text.indexOf(sentence, from);
      const at = line + text.slice(0, from).split("\n").length - 1;
      const isWhole = SEND_PROSE.test(sentence) && SECRET_PROSE.test(sentence) && OUTSIDE.test(text);
      if (!isWhole || /\b(?:your|user['’]s) (?:api key|token)\b.*\bheader/i.test(sentence)) continue;
      const isDirect = OUTSIDE.test(sentence) && /https?:\/\/|\d+\.\d+\.\d+\.\d+|@/.test(sentence);
      yield { path, line: at, seen: sentence, severity: isDirect ? "high" : "medium" };
    }
  }
}

/** With code, since the address often stands in a command; a list counts as one piece. */
function* findReportingBack(skill: ScannedSkill): Iterable<Hit> {
  for (const { file, parts } of skill.documents) {
    if (!ELSEWHERE.test(file.text)) continue;
    for (const { line, text } of textBlocks(file.text)) {
      if (isAboutAttacks(parts.headings[line - 1] ?? "")) continue;
      const signs = countSigns(text);
      if (signs === 0) continue;
      const seen = text.split("\n").find((one) => ELSEWHERE.test(one)) ?? text;
      const at = line + text.slice(0, text.indexOf(seen)).split("\n").length - 1;
      yield { path: file.path, line: at, seen: seen.trim(), severity: signs >= 2 ? "high" : "low" };
    }
  }
}

/** How much tells that someone collects: a routine, a server of their own, data that is private. */
function countSigns(text: string): number {
  if (!SENDS.test(text) || !ELSEWHERE.test(text) || /^\s*\|/.test(text) || isAboutAttacks(text)) return 0;
  const isRoutine = ROUTINE.test(text);
  const isTheirs = THEIRS.test(text);
  if (!isRoutine && !isTheirs) return 0;
  return Number(isRoutine) + Number(isTheirs) + Number(PRIVATE.test(text));
}

const MOST_BLOCK = 6000;
const MOST_LINES = 40;

/** Lines that follow each other without a blank one, code included. */
function* textBlocks(text: string): Iterable<{ readonly line: number; readonly text: string }> {
  const lines = text.split("\n");
  let start = 0;
  for (let at = 0; at <= lines.length; at++) {
    const line = lines[at];
    if (line !== undefined && line.trim() !== "" && at - start < MOST_LINES) continue;
    const block = lines.slice(start, at).join("\n").slice(0, MOST_BLOCK);
    if (block.trim() !== "") yield { line: start + 1, text: block };
    start = line?.trim() === "" ? at + 1 : at;
  }
}

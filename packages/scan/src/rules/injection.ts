/**
 * Text that manipulates the model: overrides, secrecy, faked roles, orders against the user, data to be sent away; in
 * plain sight, and where a model reads but no person looks.
 */
import { createLineFinder } from "../code/code-part.ts";
import { isMarkdown } from "../file-types.ts";
import type { Hit, RuleTable, ScannedDocument, ScannedSkill } from "../scanned-skill.ts";
import {
  CONCEAL,
  findProse,
  isAboutAttacks,
  JAILBREAK,
  OVERRIDE,
  proseParagraphs,
  readsLikeInstruction,
  SECRET_PROSE,
  SEND_PROSE,
  wholeProse,
} from "./find-hits.ts";
import { mayMatch, withWords } from "./prose-words.ts";

/** What is kept from the user: only with one of these is it an act, and not a matter of style. */
const ACT_NEARBY =
  /\b(?:run|execut\w+|send|upload\w*|post(?:ing|s)?|transmi\w+|exfil\w+|cop(?:y|ies|ied)|append\w*|delet\w+|modif\w+|install\w*|collect\w*|credentials?|passwords?|secrets?|tokens?|api[ _-]?keys?|\.env\b|environment variables?|https?:\/\/|this (?:step|instruction|file|section|action|skill)|these (?:steps|instructions|actions)|silently|in the background|backdoor|hidden|payload|curl|webhook|telemetry|sync)\b/i;

/** Names and numbers that mean nothing to a reader; omitting them is a matter of style. */
const STYLE =
  /\b(?:mention|reveal|disclos|tell)\w*\s+(?:(?:the|any|these|your|internal|private|raw|exact|specific|underlying|technical|implementation)\s+){0,4}(?:file\s?names?|(?:file\s+)?paths?|tool\s+names?|function\s+names?|(?:skill|agent|module|class|field|variable|column|table)\s+names?|ids?|identifiers|jargon|details|implementation|line\s+numbers?|internals)\b/i;

const SAFETY_OFF = withWords(
  /--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|--yolo\b|\b(?:auto[- ]?approve|automatically\s+approve|always\s+(?:accept|approve|allow))\s+(?:all|any|every)\s+(?:[\w-]+\s+){0,3}(?:permissions?|prompts?|requests?|commands?|tools?|actions?|calls?)|\b(?:disable|turn\s+off|bypass|skip)\s+(?:the\s+|all\s+|any\s+|your\s+)?(?:permission|approval|confirmation|security|safety|sandbox)\s*(?:prompts?|checks?|requests?|dialogs?|restrictions?|mode)?\s*(?:and|,|\.|before|when|so|$)/gi,
  ["dang yolo auto alwa perm appr conf secu safe sand"],
);

const ROLE = withWords(
  /<\|(?:im_start|system|user|assistant|endoftext|start_header_id)\|>|\[(?:\/)?INST\]|<<SYS>>|^\s*#{0,4}\s*\[?(?:SYSTEM|ADMIN|ROOT)(?:\s+(?:OVERRIDE|MESSAGE|PROMPT|NOTICE|INSTRUCTION|UPDATE))\]?\s*:|^\s*<\/?(?:system(?:[-_ ](?:prompt|message|override|instructions?))?|admin|developer_message)>|<\/(?:skill_content|skill|instructions|user_message|system)>\s*<(?:system|instructions)/gi,
  ["syst admi root", "over mess prom noti inst upda"],
  ["<", "["],
);

const STRONG_ROLE = /\||INST|SYS>>|OVERRIDE|<\/(?:skill|instructions)/i;

/** Orders that work against the user, whatever the task. */
const SABOTAGE = withWords(
  /\b(?:add|include|create|install|leave|insert|open|implement)\s+(?:[\w'’-]+\s+){0,4}?(?:backdoor|back\s+door|hidden\s+(?:admin|user|account|endpoint))s?\b|\badd\s+(?:[\w'’-]+\s+){0,5}?admin\s+account\s+with\s+(?:[\w'’-]+\s+){0,4}?password\b|\b(?:print|log|echo|output|include)\s+(?:the\s+|all\s+|any\s+)?(?:[A-Z]+_)*(?:TOKEN|API_KEY|SECRET|PASSWORD)S?\s+(?:to|in)\s+(?:the\s+)?(?:logs?|output|console|response)\b|\bregardless\s+of\s+(?:what\s+)?(?:the\s+)?user(?:['’]s)?\s+(?:requests?|consent|wishes|instructions?|permissions?|says|asks|wants)\b/gi,
  ["back hidd admi toke api secr pass rega"],
);

const REMOTE_INSTRUCTIONS = withWords(
  /\b(?:fetch|download|retrieve|read|load|get|visit|curl|open|pull)\b[^.\n]{0,80}(?:https?:\/\/[^\s)"'`>]+)[^\n]{0,80}\b(?:and|then)\s+(?:[\w]+\s+){0,3}?(?:follow|execute|obey|run|perform|apply|carry\s+out|do)\s+(?:[\w]+\s+){0,3}?(?:instructions?|commands?|steps|directions|whatever|what|it\b|them\b|script|code)/gi,
  [],
  ["://"],
);

export const INJECTION_RULES: RuleTable = {
  "injection.override": {
    severity: "high",
    title: "Tells the model to ignore its instructions",
    explanation:
      "A skill adds to the model's instructions; it has no reason to cancel them. Quoted examples and documents that warn about such text do not count.",
    help: "Read the whole passage. Remove it if the skill is yours; otherwise do not use the skill.",
    find: (skill) => findProse(skill, OVERRIDE),
  },
  "injection.conceal": {
    severity: "high",
    title: "Tells the model to hide something from the user",
    explanation:
      "An honest skill does nothing behind the user's back. `high` if something is done, sent or installed nearby, otherwise `low`, since some texts only ask for brevity.",
    help: "Read what it wants to hide. Do not use the skill unless you know why.",
    find: (skill) =>
      findProse(skill, CONCEAL, (match, around) =>
        STYLE.test(match) || !ACT_NEARBY.test(around) ? "low" : undefined,
      ),
  },
  "injection.jailbreak": {
    severity: "high",
    title: "Tries to free the model from its safety rules",
    explanation:
      "Phrases such as “you are now in developer mode” only serve to switch off a model's restraints.",
    help: "Remove the passage, or do not use the skill.",
    find: (skill) => findProse(skill, JAILBREAK),
  },
  "injection.safety-off": {
    severity: "medium",
    title: "Asks to skip permissions or approvals",
    explanation:
      "Only the user gives approvals. Tools that start other agents use such switches too, so it is `medium`.",
    help: "Ask for the narrow permission you need instead.",
    find: (skill) => findProse(skill, SAFETY_OFF),
  },
  "injection.fake-role": {
    severity: "high",
    title: "Imitates a system message or conversation markers",
    explanation:
      "Markers such as `<|im_start|>` or a line `SYSTEM OVERRIDE:` make the skill's text look as if it came from the system. As part of a prompt that the skill shows, it is milder.",
    help: "Remove the markers; if they are the topic, show them in a code block.",
    find: (skill) => findProse(skill, ROLE, (match) => (STRONG_ROLE.test(match) ? undefined : "low")),
  },
  "injection.sabotage": {
    severity: "high",
    title: "Orders something that works against the user",
    explanation:
      "No task needs back doors, hidden accounts, secrets in logs, or acting against the user's word. Back doors are `high`, the others `medium`.",
    help: "Do not use the skill. If it is yours, remove the order.",
    find: (skill) =>
      findProse(skill, SABOTAGE, (match) => (/back\s?door|hidden|admin/i.test(match) ? undefined : "medium")),
  },
  "injection.remote-instructions": {
    severity: "medium",
    title: "Tells the model to fetch instructions and follow them",
    explanation:
      "Whoever controls the address decides what the skill does after it was reviewed. Documentation that is only read does not count.",
    help: "Put the instructions into the skill.",
    find: (skill) => findProse(skill, REMOTE_INSTRUCTIONS),
  },
  "injection.hidden-comment": {
    severity: "high",
    title: "A hidden comment gives instructions",
    explanation:
      "HTML comments disappear when Markdown is shown to a person, but a model reads them like any other text.",
    help: "Move what readers need into the text; delete the rest.",
    *find(skill) {
      for (const { file, parts } of skill.documents) {
        for (const { text, line } of parts.comments) {
          const grade = gradeHidden(text);
          if (grade) yield { path: file.path, line, seen: text.trim(), severity: grade };
        }
      }
    },
  },
  "injection.hidden-place": {
    severity: "high",
    title: "Instructions are where a reader does not see them",
    explanation:
      "A model reads alt texts, link titles, `data:` URLs and elements hidden by styles; a person does not see them.",
    help: "Move what readers need into the text; delete the rest.",
    find: findHiddenPlaces,
  },
  "injection.send-in-prose": {
    severity: "high",
    title: "Tells the model to send private data somewhere",
    explanation:
      "It names keys, environment, conversation or credentials together with an address to send them to: what a script would do, in words.",
    help: "Do not use the skill. If it is yours, say which data it needs, and use the user's own services.",
    find: findSending,
  },
  "injection.report-back": {
    severity: "high",
    title: "Tells the model to report to a server after its work",
    explanation:
      "The user's prompts, results and files routinely go to someone else: “after any task, upload … to our server”. No skill needs such a rule for its purpose.",
    help: "Do not use the skill unless the server is your own.",
    find: findReportingBack,
  },
};

const OUTSIDE =
  /https?:\/\/(?!(?:localhost|127\.0\.0\.1)\b)[^\s)"'`>]+|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+\.[\w.]+|\b(?:webhook|our (?:server|endpoint)|remote (?:server|endpoint|host)|external (?:server|endpoint|api)|attacker)\b/i;

const SENDS = /\b(?:upload|send|forward|transmit|submit|post|copy|report)s?\b|\bPOST\b/i;
const ELSEWHERE = /https?:\/\/(?!localhost\b|127\.|0\.0\.0\.0)[^\s)"'`>]+/i;
/** Whatever it does, the model must do this too. */
const ROUTINE =
  /\b(?:after|upon|before|when(?:ever)?|once|following)\s+(?:\w+\s+){0,3}?(?:any|every|each|all)\s+(?:[\w-]+\s+){0,3}?(?:tasks?|operations?|runs?|requests?|commits?|sessions?|queries|query|retrievals?|actions?|changes?|edits?|jobs?|interactions?|responses?|conversations?)\b|\b(?:for|on|with)\s+every\s+(?:task|request|message|response|query|session|conversation|interaction)\b/i;
const THEIRS =
  /\b(?:our|the\s+company(?:['’]s)?|central|internal|intranet)\s+(?:[\w-]+\s+){0,3}?(?:server|endpoint|collector|api|service|host)\b|\b(?:logging|monitoring|collector|collection|telemetry|analytics)\s+(?:server|endpoint)\b/i;
const PRIVATE =
  /(?:^|[\s`"'/])\.env\b|\.ssh\b|\bclipboard\b|\bpbpaste\b|\bscreenshot|\bscreencapture\b|\b(?:system|task|user|full|original)[\s_]+prompts?\b|<(?:system_)?prompt>|<query>|\bconversation\b|\bchat\s+history\b|\bcredentials?\b|\bpasswords?\b|\bbrowser\s+history\b|\bpatient\b/i;

/** One paragraph has all three: what is private, that it is sent, and where. */
function* findSending(skill: ScannedSkill): Iterable<Hit> {
  const whole = wholeProse(skill);
  if (!mayMatch(SEND_PROSE, whole) || !SEND_PROSE.test(whole.text)) return;
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

/** With code, since the address is often in a command; a list counts as one piece. */
function* findReportingBack(skill: ScannedSkill): Iterable<Hit> {
  for (const { file, parts } of skill.documents) {
    if (!file.text.includes("://") || !ELSEWHERE.test(file.text)) continue;
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

/** How many signs show that someone collects data: a routine, their own server, private data. */
function countSigns(text: string): number {
  if (!SENDS.test(text) || !ELSEWHERE.test(text) || /^\s*\|/.test(text) || isAboutAttacks(text)) return 0;
  const isRoutine = ROUTINE.test(text);
  const isTheirs = THEIRS.test(text);
  if (!isRoutine && !isTheirs) return 0;
  return Number(isRoutine) + Number(isTheirs) + Number(PRIVATE.test(text));
}

const MOST_BLOCK = 6000;
const MOST_LINES = 40;

/** Consecutive lines without a blank one, including code. */
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

function gradeHidden(text: string): Hit["severity"] | undefined {
  const isOrder = [OVERRIDE, JAILBREAK, CONCEAL].some((phrase) => text.search(phrase) !== -1);
  if (isOrder || (SEND_PROSE.test(text) && SECRET_PROSE.test(text))) return "high";
  if (/\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\bbase64\s+(?:-d|--decode)\b/.test(text)) return "high";
  return readsLikeInstruction(text) ? "medium" : undefined;
}

function* findHiddenPlaces(skill: ScannedSkill): Iterable<Hit> {
  for (const document of skill.documents) {
    const { file, parts } = document;
    for (const { text, title, address, line, isImage } of parts.links) {
      const said = isImage ? `${text} ${title}` : title;
      const grade = gradeHidden(said);
      if (grade) yield { path: file.path, line, seen: said.trim(), severity: grade };
      const decoded = decodeDataAddress(address);
      const inner = decoded && gradeHidden(decoded);
      if (decoded && inner)
        yield { path: file.path, line, seen: decoded, detail: "in a `data:` address", severity: inner };
    }
    yield* findStyledAway(document);
  }
}

function decodeDataAddress(address: string): string | undefined {
  const [, base64, data = ""] =
    /^data:text\/[^,;]*(?:;charset=[\w-]+)?(;base64)?,(.*)$/is.exec(address) ?? [];
  if (data === "") return undefined;
  if (base64) return Buffer.from(data, "base64").toString("utf8");
  try {
    return decodeURIComponent(data);
  } catch {
    return data; // A stray percent sign: used as written.
  }
}

const STYLED_AWAY =
  /<(\w{1,20})\b[^>]{0,300}(?:style\s*=\s*["'][^"']{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|color\s*:\s*(?:white|#fff(?:fff)?|transparent))[^"']{0,300}["']|\shidden\b)[^>]{0,300}>([\s\S]{1,2000}?)<\/\1>/gi;

function* findStyledAway({ file, parts }: ScannedDocument): Iterable<Hit> {
  const text = parts.whole;
  if (!text.includes("</")) return;
  const placeOf = createLineFinder(text);
  for (const match of text.matchAll(STYLED_AWAY)) {
    const said = match[2] ?? "";
    const grade =
      gradeHidden(said) ??
      (isMarkdown(file.path) && said.trim().split(/\s+/).length > 4 ? "medium" : undefined);
    const { line } = placeOf(match.index);
    if (grade) yield { path: file.path, line, seen: said.trim(), severity: grade };
  }
}

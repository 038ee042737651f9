/** Text that talks the model into something: overrides, secrecy, faked roles, orders against the user. */
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { CONCEAL, JAILBREAK, OVERRIDE } from "./phrases.ts";
import { findProse, proseMatches } from "./prose.ts";

/** What is kept from the user: only with one of these it is an act, and not a matter of style. */
const ACT_NEARBY =
  /\b(?:run|execut\w+|send|upload\w*|post(?:ing|s)?|transmi\w+|exfil\w+|cop(?:y|ies|ied)|append\w*|delet\w+|modif\w+|install\w*|collect\w*|credentials?|passwords?|secrets?|tokens?|api[ _-]?keys?|\.env\b|environment variables?|https?:\/\/|this (?:step|instruction|file|section|action|skill)|these (?:steps|instructions|actions)|silently|in the background|backdoor|hidden|payload|curl|webhook|telemetry|sync)\b/i;

/** Names and numbers that mean nothing to a reader; to leave them out is a matter of style. */
const STYLE =
  /\b(?:mention|reveal|disclos|tell)\w*\s+(?:(?:the|any|these|your|internal|private|raw|exact|specific|underlying|technical|implementation)\s+){0,4}(?:file\s?names?|(?:file\s+)?paths?|tool\s+names?|function\s+names?|(?:skill|agent|module|class|field|variable|column|table)\s+names?|ids?|identifiers|jargon|details|implementation|line\s+numbers?|internals)\b/i;

const SAFETY_OFF =
  /--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|--yolo\b|\b(?:auto[- ]?approve|automatically\s+approve|always\s+(?:accept|approve|allow))\s+(?:all|any|every)\s+(?:[\w-]+\s+){0,3}(?:permissions?|prompts?|requests?|commands?|tools?|actions?|calls?)|\b(?:disable|turn\s+off|bypass|skip)\s+(?:the\s+|all\s+|any\s+|your\s+)?(?:permission|approval|confirmation|security|safety|sandbox)\s*(?:prompts?|checks?|requests?|dialogs?|restrictions?|mode)?\s*(?:and|,|\.|before|when|so|$)/gi;

const ROLE =
  /<\|(?:im_start|system|user|assistant|endoftext|start_header_id)\|>|\[(?:\/)?INST\]|<<SYS>>|^\s*#{0,4}\s*\[?(?:SYSTEM|ADMIN|ROOT)(?:\s+(?:OVERRIDE|MESSAGE|PROMPT|NOTICE|INSTRUCTION|UPDATE))\]?\s*:|^\s*<\/?(?:system(?:[-_ ](?:prompt|message|override|instructions?))?|admin|developer_message)>|<\/(?:skill_content|skill|instructions|user_message|system)>\s*<(?:system|instructions)/gi;

/** Orders that work against the user whatever the task is. */
const SABOTAGE =
  /\b(?:add|include|create|install|leave|insert|open|implement)\s+(?:[\w'’-]+\s+){0,4}?(?:backdoor|back\s+door|hidden\s+(?:admin|user|account|endpoint))s?\b|\badd\s+(?:[\w'’-]+\s+){0,5}?admin\s+account\s+with\s+(?:[\w'’-]+\s+){0,4}?password\b|\b(?:print|log|echo|output|include)\s+(?:the\s+|all\s+|any\s+)?(?:[A-Z]+_)*(?:TOKEN|API_KEY|SECRET|PASSWORD)S?\s+(?:to|in)\s+(?:the\s+)?(?:logs?|output|console|response)\b|\bregardless\s+of\s+(?:what\s+)?(?:the\s+)?user(?:['’]s)?\s+(?:requests?|consent|wishes|instructions?|permissions?|says|asks|wants)\b/gi;

const REMOTE_INSTRUCTIONS =
  /\b(?:fetch|download|retrieve|read|load|get|visit|curl|open|pull)\b[^.\n]{0,80}(?:https?:\/\/[^\s)"'`>]+)[^\n]{0,80}\b(?:and|then)\s+(?:[\w]+\s+){0,3}?(?:follow|execute|obey|run|perform|apply|carry\s+out|do)\s+(?:[\w]+\s+){0,3}?(?:instructions?|commands?|steps|directions|whatever|what|it\b|them\b|script|code)/gi;

export const INJECTION_RULES: readonly ScanRule[] = [
  {
    id: "injection.override",
    family: "injection",
    severity: "high",
    title: "The text tells the model to set aside its instructions",
    explanation:
      "A skill adds to what a model was told; it has no reason to cancel it. Quoted examples, and documents that warn of such text, are not counted.",
    help: "Read the whole passage. Remove it if the skill is yours; otherwise do not use the skill.",
    find: (skill) => findProse(skill, OVERRIDE),
  },
  {
    id: "injection.conceal",
    family: "injection",
    severity: "high",
    title: "The text tells the model to hide something from the user",
    explanation:
      "An honest skill has nothing to do behind the user's back. It counts as `high` where something is done, sent or installed nearby, otherwise as `low`, since some texts only ask for brevity.",
    help: "Read what is to be hidden. Do not use the skill unless you know why.",
    find: function* (skill) {
      for (const { hit, match, around } of findProsePassages(skill, CONCEAL)) {
        const isStyle = STYLE.test(match) || !ACT_NEARBY.test(around);
        yield isStyle ? { ...hit, severity: "low" } : hit;
      }
    },
  },
  {
    id: "injection.jailbreak",
    family: "injection",
    severity: "high",
    title: "The text tries to free the model from its safety rules",
    explanation:
      "Phrases such as “you are now in developer mode” have no other use than to switch off what holds a model back.",
    help: "Remove the passage, or do not use the skill.",
    find: (skill) => findProse(skill, JAILBREAK),
  },
  {
    id: "injection.safety-off",
    family: "injection",
    severity: "medium",
    title: "The text asks to skip permissions or approvals",
    explanation:
      "Approvals are the user's to give. Tools that start other agents use such switches too, so it is `medium`.",
    help: "Ask for the narrow permission that is needed instead.",
    find: (skill) => findProse(skill, SAFETY_OFF),
  },
  {
    id: "injection.fake-role",
    family: "injection",
    severity: "high",
    title: "The text imitates a system message or the markers of a conversation",
    explanation:
      "Markers such as `<|im_start|>` or a line `SYSTEM OVERRIDE:` make text of a skill look as if it came from the system. As an element of a prompt that the skill shows, it is milder.",
    help: "Remove the markers; describe them in a code block where they are the topic.",
    find: function* (skill) {
      for (const { hit, match } of findProsePassages(skill, ROLE)) {
        const isStrong = /\||INST|SYS>>|OVERRIDE|<\/(?:skill|instructions)/i.test(match);
        yield isStrong ? hit : { ...hit, severity: "low" };
      }
    },
  },
  {
    id: "injection.sabotage",
    family: "injection",
    severity: "high",
    title: "The text orders something that works against the user",
    explanation:
      "Back doors, hidden accounts, secrets in logs, or doing something whatever the user says: no task needs them. Back doors are `high`, the others `medium`.",
    help: "Do not use the skill. If it is yours, remove the order.",
    find: function* (skill) {
      for (const { hit, match } of findProsePassages(skill, SABOTAGE)) {
        yield /back\s?door|hidden|admin/i.test(match) ? hit : { ...hit, severity: "medium" };
      }
    },
  },
  {
    id: "injection.remote-instructions",
    family: "injection",
    severity: "medium",
    title: "The text tells the model to fetch instructions and follow them",
    explanation:
      "Whoever controls the address decides what the skill does, after it was looked at. Documentation that is only read is no such thing.",
    help: "Put the instructions into the skill.",
    find: (skill) => findProse(skill, REMOTE_INSTRUCTIONS),
  },
];

interface Passage {
  readonly hit: Hit;
  readonly match: string;
  readonly around: string;
}

function* findProsePassages(skill: ScannedSkill, pattern: RegExp): Iterable<Passage> {
  for (const { path, line, seen, match, around } of proseMatches(skill, pattern))
    yield { hit: { path, line, seen }, match, around };
}

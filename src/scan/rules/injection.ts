/** Text that talks the model into something: overrides, secrecy, faked roles, instructions where no person looks. */
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedDocument, ScannedSkill } from "../scanned-skill.ts";
import { stepDown } from "./act-hits.ts";
import { findProse, proseMatches, proseParagraphs, readsLikeInstruction } from "./prose.ts";

const OVERRIDE =
  /\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:(?:all|any|every|each|the|your|of|these|those|and|prior|previous|preceding|earlier|above|existing|original|former|current|other|system|safety|built-in)[\s,]+){1,6}(?:system\s+)?(?:instructions?|prompts?|rules|guidelines|directions|commands|directives|constraints|programming|context|policies|safeguards|restrictions|messages?)\b|\b(?:your|the)\s+(?:previous|prior|original|system)\s+(?:instructions?|prompts?)\s+(?:are|is|have been|no longer)\s+(?:void|cancell?ed|invalid|replaced|superseded|revoked|obsolete|overridden|appl)/gi;

const CONCEAL =
  /\b(?:do\s+not|don['’]?t|never|must\s+not|without|avoid)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|show(?:ing)?|let(?:ting)?|report(?:ing)?|warn(?:ing)?)\s+(?:[\w'’-]+\s+){0,6}?(?:the\s+|any\s+|your\s+)?(?:users?|humans?|operators?|person|developers?|anyone|owner)\b(?!['’]s)|\b(?:keep|hide|conceal)\s+(?:[\w'’-]+\s+){1,6}?(?:secret|hidden|confidential|invisible)?\s*from\s+(?:the\s+)?(?:users?|humans?|operators?|developers?)\b|\bwithout\s+(?:the\s+)?users?(?:['’]s?)?\s+(?:knowledge|knowing|consent|noticing|awareness|permission)\b/gi;

/** What is kept from the user: only with one of these it is an act, and not a matter of style. */
const ACT_NEARBY =
  /\b(?:run|execut\w+|send|upload\w*|post(?:ing|s)?|transmi\w+|exfil\w+|cop(?:y|ies|ied)|append\w*|delet\w+|modif\w+|install\w*|collect\w*|credentials?|passwords?|secrets?|tokens?|api[ _-]?keys?|\.env\b|environment variables?|https?:\/\/|this (?:step|instruction|file|section|action|skill)|these (?:steps|instructions|actions)|silently|in the background|backdoor|hidden|payload|curl|webhook|telemetry|sync)\b/i;

const JAILBREAK =
  /\byou\s+are\s+(?:now|no\s+longer)\s+(?:(?:in|an?|the|bound|restricted|limited|acting|operating)\s+)+(?:developer\s+mode|DAN\b|jailbroken|unrestricted|unfiltered|by\s+(?:any|your|these|the)\s+(?:rules|restrictions|guidelines|policies|safety))|\b(?:act|behave|respond|operate)\s+as\s+(?:if\s+you\s+(?:have|had)\s+no|an?\s+(?:unrestricted|unfiltered|uncensored|jailbroken))\b|\bDo\s+Anything\s+Now\b|\b(?:enable|enter|activate)\s+(?:developer|god|jailbreak|unrestricted|DAN)\s+mode\b|\b(?:you\s+(?:have|has)\s+no|without\s+(?:any\s+)?|ignore\s+(?:all\s+|any\s+|your\s+)?|bypass\s+(?:all\s+|any\s+|your\s+)?|disable\s+(?:all\s+|any\s+|your\s+)?)(?:ethical|safety|content|moral)\s+(?:restrictions?|guidelines?|filters?|constraints?|limitations?|guardrails?|checks?|policies)\b/gi;

const SAFETY_OFF =
  /--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|--yolo\b|\b(?:auto[- ]?approve|automatically\s+approve|always\s+(?:accept|approve|allow))\s+(?:all|any|every)\s+(?:[\w-]+\s+){0,3}(?:permissions?|prompts?|requests?|commands?|tools?|actions?|calls?)|\b(?:disable|turn\s+off|bypass|skip)\s+(?:the\s+|all\s+|any\s+|your\s+)?(?:permission|approval|confirmation|security|safety|sandbox)\s*(?:prompts?|checks?|requests?|dialogs?|restrictions?|mode)?\s*(?:and|,|\.|before|when|so|$)/gi;

const ROLE =
  /<\|(?:im_start|system|user|assistant|endoftext|start_header_id)\|>|\[(?:\/)?INST\]|<<SYS>>|^\s*#{0,4}\s*\[?(?:SYSTEM|ADMIN|ROOT)(?:\s+(?:OVERRIDE|MESSAGE|PROMPT|NOTICE|INSTRUCTION|UPDATE))\]?\s*:|^\s*<\/?(?:system(?:[-_ ](?:prompt|message|override|instructions?))?|admin|developer_message)>|<\/(?:skill_content|skill|instructions|user_message|system)>\s*<(?:system|instructions)/gi;

const SEND_PROSE =
  /\b(?:send|upload|post|transmit|forward|e-?mail|exfiltrate|submit|deliver|leak|push|report|append)\w*\b(?=[^.\n]{0,200}(?:https?:\/\/|\bto\b|\bvia\b|\bas\b|\bin\b))/i;
const SECRET_PROSE =
  /~\/\.(?:ssh|aws|gnupg|npmrc|netrc|kube|docker|config\/gcloud)\b|\bid_(?:rsa|ed25519)\b|\bssh\s+(?:private\s+)?keys?\b|\bprivate\s+keys?\b|\bbrowser\s+(?:cookies|passwords|history)\b|\bkeychain\b|\b(?:all|entire|full|complete|contents?\s+of)\s+(?:the\s+)?(?:environment(?:\s+variables)?|env\b|\.env|credentials?|conversation|chat\s+history)|\b(?:contents?|copy)\s+of\s+[^.\n]{0,30}(?:\.env|credentials)|\bconversation\s+(?:history|transcript|context)\b|\bsystem\s+prompt\b|\bseed\s+phrases?\b|\b(?:api\s+keys?|passwords?|credentials|tokens|secrets)\b(?=[^.\n]{0,120}https?:\/\/)/i;
const OUTSIDE = /https?:\/\/(?!(?:localhost|127\.0\.0\.1)\b)[^\s)"'`>]+|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+\.[\w.]+|\b(?:webhook|our (?:server|endpoint)|remote (?:server|endpoint|host)|external (?:server|endpoint|api)|attacker)\b/i;

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
      for (const { hit, around } of findProsePassages(skill, CONCEAL)) {
        yield ACT_NEARBY.test(around) ? hit : { ...hit, severity: "low" };
      }
    },
  },
  {
    id: "injection.jailbreak",
    family: "injection",
    severity: "high",
    title: "The text tries to free the model from its safety rules",
    explanation: "Phrases such as “you are now in developer mode” have no other use than to switch off what holds a model back.",
    help: "Remove the passage, or do not use the skill.",
    find: (skill) => findProse(skill, JAILBREAK),
  },
  {
    id: "injection.safety-off",
    family: "injection",
    severity: "medium",
    title: "The text asks to skip permissions or approvals",
    explanation: "Approvals are the user's to give. Tools that start other agents use such switches too, so it is `medium`.",
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
    id: "injection.hidden-comment",
    family: "injection",
    severity: "high",
    title: "A comment that is not shown gives instructions",
    explanation: "HTML comments vanish when Markdown is shown to a person, while a model reads them like any other text.",
    help: "Move what is meant for readers into the text; delete the rest.",
    find: function* (skill) {
      for (const { file, parts } of skill.documents) {
        for (const { text, line } of parts.comments) {
          const grade = gradeHidden(text);
          if (grade) yield { path: file.path, line, seen: text.trim(), severity: grade };
        }
      }
    },
  },
  {
    id: "injection.hidden-place",
    family: "injection",
    severity: "high",
    title: "Instructions stand where a reader does not see them",
    explanation:
      "Alternative texts, titles of links, `data:` addresses and elements that are styled away are read by a model and not by a person.",
    help: "Move what is meant for readers into the text; delete the rest.",
    find: findHiddenPlaces,
  },
  {
    id: "injection.send-in-prose",
    family: "injection",
    severity: "high",
    title: "The text tells the model to send private data to somewhere",
    explanation: "Keys, environment, conversation or credentials together with an address to send them to: what a script would do, said in words.",
    help: "Do not use the skill. If it is yours, say which data is needed, and use the user's own services.",
    find: findSending,
  },
  {
    id: "injection.remote-instructions",
    family: "injection",
    severity: "medium",
    title: "The text tells the model to fetch instructions and follow them",
    explanation: "Whoever controls the address decides what the skill does, after it was looked at. Documentation that is only read is no such thing.",
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
  for (const { path, line, seen, match, around } of proseMatches(skill, pattern)) yield { hit: { path, line, seen }, match, around };
}

function gradeHidden(text: string): Hit["severity"] | undefined {
  const has = (...patterns: readonly RegExp[]): boolean => patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace("g", "")).test(text));
  if (has(OVERRIDE, JAILBREAK, CONCEAL) || (SEND_PROSE.test(text) && SECRET_PROSE.test(text))) return "high";
  if (/\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\bbase64\s+(?:-d|--decode)\b/.test(text)) return "high";
  return readsLikeInstruction(text) ? "medium" : undefined;
}

function* findHiddenPlaces(skill: ScannedSkill): Iterable<Hit> {
  for (const document of skill.documents) {
    const { file, parts } = document;
    for (const { text, title, address, line, isImage } of parts.links) {
      const said = isImage ? `${text} ${title}` : title;
      const grade = gradeHidden(said);
      if (grade) yield { path: file.path, line, seen: said.trim(), severity: grade === "high" ? "high" : "medium" };
      const decoded = decodeDataAddress(address);
      const inner = decoded && gradeHidden(decoded);
      if (decoded && inner) yield { path: file.path, line, seen: decoded, detail: "in a `data:` address", severity: inner };
    }
    yield* findStyledAway(document);
  }
}

function decodeDataAddress(address: string): string | undefined {
  const [, base64, data = ""] = /^data:text\/[^,;]*(?:;charset=[\w-]+)?(;base64)?,(.*)$/is.exec(address) ?? [];
  if (data === "") return undefined;
  if (base64) return Buffer.from(data, "base64").toString("utf8");
  try {
    return decodeURIComponent(data);
  } catch {
    return data; // A stray percent sign: it reads as it is written.
  }
}

const STYLED_AWAY =
  /<(\w{1,20})\b[^>]{0,300}(?:style\s*=\s*["'][^"']{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|color\s*:\s*(?:white|#fff(?:fff)?|transparent))[^"']{0,300}["']|\shidden\b)[^>]{0,300}>([\s\S]{1,2000}?)<\/\1>/gi;

function* findStyledAway({ file, parts }: ScannedDocument): Iterable<Hit> {
  const text = parts.prose.join("\n");
  for (const match of text.matchAll(STYLED_AWAY)) {
    const said = match[2] ?? "";
    const grade = gradeHidden(said) ?? (said.trim().split(/\s+/).length > 4 ? "medium" : undefined);
    if (grade) yield { path: file.path, line: text.slice(0, match.index).split("\n").length, seen: said.trim(), severity: grade };
  }
}

/** One paragraph has all three: what is private, that it is sent, and where to. */
function* findSending(skill: ScannedSkill): Iterable<Hit> {
  for (const { path, line, text, isWarned } of proseParagraphs(skill)) {
    if (isWarned || !SEND_PROSE.test(text) || !OUTSIDE.test(text)) continue;
    for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z])/)) {
      const isWhole = SEND_PROSE.test(sentence) && SECRET_PROSE.test(sentence) && OUTSIDE.test(text);
      if (!isWhole || /\b(?:your|user['’]s) (?:api key|token)\b.*\bheader/i.test(sentence)) continue;
      const isDirect = OUTSIDE.test(sentence) && /https?:\/\/|\d+\.\d+\.\d+\.\d+|@/.test(sentence);
      yield { path, line, seen: sentence, severity: isDirect ? "high" : stepDown("high") };
    }
  }
}

/** What each client asks of `description`. */
import { MAX_DESCRIPTION_LENGTH } from "../../skill/manifest-fields.ts";
import type { ByClient, CompatClientId } from "./compat-clients.ts";
import { breaks, type CompatSubject, note, type Remark } from "./compat-subject.ts";

interface DescriptionRule {
  /** What becomes of a skill without one. */
  readonly missing: Remark["effect"];
  readonly instead?: string;
  /** It must be text in YAML, too. */
  readonly text?: true;
  readonly longest?: {
    readonly characters: number;
    readonly effect: Remark["effect"];
    readonly words: string;
  };
  readonly noTags?: true;
}

const refusesLonger = {
  characters: MAX_DESCRIPTION_LENGTH,
  effect: "breaks",
  words: "A longer one is refused",
} as const;
/** Of the description with `when_to_use` behind it. */
const CLAUDE_LISTING_LENGTH = 1536;

const RULES: ByClient<DescriptionRule> = {
  agentskills: { missing: "breaks", longest: refusesLonger },
  "claude-code": {
    missing: "note",
    instead: "the first paragraph of the body is listed instead",
    longest: {
      characters: CLAUDE_LISTING_LENGTH,
      effect: "note",
      words: "The rest is cut from the list of skills",
    },
  },
  "claude-ai": { missing: "breaks", text: true, longest: refusesLonger, noTags: true },
  codex: { missing: "breaks", text: true, longest: refusesLonger },
  opencode: { missing: "breaks", text: true },
  "gemini-cli": { missing: "breaks" },
  "qwen-code": { missing: "breaks" },
  cursor: { missing: "breaks" },
  copilot: {
    missing: "breaks",
    longest: { characters: MAX_DESCRIPTION_LENGTH, effect: "note", words: "The rest is cut" },
  },
  goose: { missing: "breaks", text: true },
  amp: { missing: "breaks" },
  letta: { missing: "note", instead: "the first paragraph of the body is taken instead" },
  pi: {
    missing: "breaks",
    longest: { characters: MAX_DESCRIPTION_LENGTH, effect: "note", words: "It is loaded with a warning" },
  },
  ash: { missing: "breaks" },
  "agent-harness": { missing: "breaks", text: true, longest: refusesLonger },
  mamba: { missing: "breaks" },
  weakincentives: { missing: "breaks", text: true, longest: refusesLonger },
};

const TAG = /<\/?[a-z][^<>]{0,200}>/i;

export function checkDescription(subject: CompatSubject, client: CompatClientId): readonly Remark[] {
  const rule = RULES[client];
  if (rule === undefined) return [];
  const { description: written = null } = subject.fields;
  const remark = (effect: Remark["effect"], message: string): Remark =>
    effect === "breaks" ? breaks("description", message) : note("description", message);
  if (written === null || (typeof written === "string" && written.trim() === "")) {
    const instead = rule.instead ?? "it is needed there";
    return [remark(rule.missing, `There is no \`description\`: ${instead}.`)];
  }
  if (typeof written !== "string") {
    return rule.text
      ? [remark("breaks", "It is no text; it needs quotes, or a line of its own, there.")]
      : [];
  }
  const remarks: Remark[] = [];
  const length = [...written].length + (client === "claude-code" ? whenLength(subject) : 0);
  if (rule.longest && length > rule.longest.characters) {
    const { effect, words, characters } = rule.longest;
    remarks.push(remark(effect, `${words}: it has ${length} characters, and may have ${characters}.`));
  }
  if (rule.noTags && TAG.test(written))
    remarks.push(remark("breaks", "It has a tag like `<…>`, which is refused there."));
  return remarks;
}

function whenLength({ fields }: CompatSubject): number {
  const when = fields.when_to_use;
  return typeof when === "string" ? [...when].length + 1 : 0;
}

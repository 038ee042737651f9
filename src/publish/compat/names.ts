/** What each client asks of `name`. */
import { isPlainSkillName, isSkillName, MAX_NAME_LENGTH } from "../../skill/skill-name.ts";
import type { ByClient, CompatClientId } from "./compat-clients.ts";
import { breaks, type CompatSubject, note, type Remark } from "./compat-subject.ts";

type Effect = Remark["effect"];

interface NameRule {
  /** Otherwise the folder's name is taken. */
  readonly required?: true;
  /** It must be text in YAML, too: `name: 2024` is a number. */
  readonly text?: true;
  readonly grammar?: {
    readonly holds: (name: string) => boolean;
    readonly words: string;
    readonly effect: Effect;
  };
  /** What becomes of a name that is not the folder's. */
  readonly folder?: Effect;
  readonly longest?: { readonly effect: Effect; readonly words: string };
  readonly reserved?: RegExp;
}

const GRAMMAR = "lower-case letters, digits and single hyphens, at most 64";
const PLAIN = "a–z, 0–9 and single hyphens, at most 64";

const isShortPlain = (name: string): boolean => isPlainSkillName(name) && name.length <= MAX_NAME_LENGTH;
const plain = (effect: Effect): NameRule["grammar"] & object => ({
  holds: isShortPlain,
  words: PLAIN,
  effect,
});

const RULES: ByClient<NameRule> = {
  agentskills: {
    required: true,
    grammar: { holds: isSkillName, words: GRAMMAR, effect: "breaks" },
    folder: "breaks",
  },
  "claude-ai": { required: true, text: true, grammar: plain("breaks"), reserved: /anthropic|claude/i },
  codex: { text: true, longest: { effect: "breaks", words: "A longer name is refused" } },
  opencode: { required: true, text: true, grammar: plain("note") },
  "gemini-cli": {
    required: true,
    grammar: {
      holds: (name) => !/[:\\/<>*?"|]/.test(name),
      words: 'anything but `: \\ / < > * ? " |`, which become hyphens',
      effect: "note",
    },
  },
  "qwen-code": {
    required: true,
    grammar: {
      holds: (name) => /^[\p{L}\p{N}_:.-]+$/u.test(name),
      words: "letters, digits, `_`, `:`, `.` and `-`",
      effect: "breaks",
    },
  },
  cursor: { required: true, grammar: plain("note"), folder: "note" },
  copilot: { required: true, folder: "breaks", longest: { effect: "note", words: "A longer name is cut" } },
  goose: { required: true, text: true },
  amp: { required: true },
  pi: { grammar: plain("note"), folder: "note" },
  "agent-harness": { required: true, text: true, grammar: plain("breaks"), folder: "breaks" },
  mamba: {
    required: true,
    grammar: {
      holds: (name) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= MAX_NAME_LENGTH,
      words: "a–z, 0–9 and hyphens, at most 64",
      effect: "breaks",
    },
    folder: "breaks",
  },
  weakincentives: { required: true, text: true, grammar: plain("breaks"), folder: "breaks" },
};

export function checkName({ candidate, fields }: CompatSubject, client: CompatClientId): readonly Remark[] {
  const rule = RULES[client];
  if (rule === undefined) return [];
  const { name: written = null } = fields;
  if (written === null || written === "") {
    return rule.required ? [breaks("name", "There is no `name`, and it is needed there.")] : [];
  }
  const remarks: Remark[] = [];
  const add = (effect: Effect, message: string): void => {
    remarks.push(effect === "breaks" ? breaks("name", message) : note("name", message));
  };
  if (typeof written !== "string" && rule.text) add("breaks", "It is no text; it needs quotes there.");
  const name = String(written);
  if (rule.grammar && !rule.grammar.holds(name))
    add(rule.grammar.effect, `A name there is ${rule.grammar.words}.`);
  if (
    rule.folder &&
    candidate.form === "directory" &&
    name.normalize("NFKC") !== candidate.defaultName.normalize("NFKC")
  ) {
    add(rule.folder, `It is not the folder's name, \`${candidate.defaultName}\`, as it must be there.`);
  }
  if (rule.longest && [...name].length > MAX_NAME_LENGTH)
    add(rule.longest.effect, `${rule.longest.words}: it may have ${MAX_NAME_LENGTH} characters.`);
  if (rule.reserved?.test(name)) add("breaks", "`anthropic` and `claude` are reserved there.");
  return remarks;
}

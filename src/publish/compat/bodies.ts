/** What each client does with the instructions: how much of them it keeps, and which marks in them it replaces. */
import type { ByClient, CompatClientId } from "./compat-clients.ts";
import { breaks, type CompatSubject, note, type Remark } from "./compat-subject.ts";

interface SizeFact {
  readonly characters: number;
  readonly effect: Remark["effect"];
  readonly message: string;
}

/** Four characters are about one token of English. */
const FIVE_THOUSAND_TOKENS = 20_000;
const MIB: number = 1024 * 1024;

const SIZES: ByClient<SizeFact> = {
  agentskills: {
    characters: FIVE_THOUSAND_TOKENS,
    effect: "note",
    message: "The specification recommends at most 5,000 tokens; the rest belongs into files of their own.",
  },
  "claude-code": {
    characters: FIVE_THOUSAND_TOKENS,
    effect: "note",
    message: "Once a long conversation is shortened, only the first 5,000 tokens are kept.",
  },
  mamba: {
    characters: FIVE_THOUSAND_TOKENS,
    effect: "note",
    message: "More than 5,000 tokens draw a warning.",
  },
  weakincentives: { characters: MIB, effect: "breaks", message: "A skill file may have 1 MiB." },
};

interface MarkFact {
  readonly mark: RegExp;
  readonly words: string;
  /** The clients that replace it; for the others it is text. */
  readonly clients: readonly CompatClientId[];
}

const MARKS: readonly MarkFact[] = [
  { mark: /(?<!\\)\$ARGUMENTS\b/, words: "`$ARGUMENTS`", clients: ["claude-code", "mamba", "goose"] },
  { mark: /(?<!\\)\$\{CLAUDE_SKILL_DIR\}/, words: `\`\${CLAUDE_SKILL_DIR}\``, clients: ["claude-code"] },
  { mark: /(?<!\\)\$\{METIER_SKILL_DIR\}/, words: `\`\${METIER_SKILL_DIR}\``, clients: [] },
  { mark: /(?:^|\s)!`[^`\n]+`/m, words: "`` !`command` ``", clients: ["claude-code"] },
];

/** Readers that look at files alone and give no body to a model. */
const GIVES_NO_BODY: readonly CompatClientId[] = ["agentskills"];

export function checkBody({ parsed: { body } }: CompatSubject, client: CompatClientId): readonly Remark[] {
  const size = SIZES[client];
  const isLarge = size !== undefined && body.length > size.characters;
  const marks = MARKS.filter(({ mark, clients }) => !clients.includes(client) && mark.test(body));
  return [
    ...(isLarge
      ? [size.effect === "breaks" ? breaks("body", size.message) : note("body", size.message)]
      : []),
    ...(marks.length > 0 && !GIVES_NO_BODY.includes(client)
      ? [
          note(
            "body",
            `${marks.map(({ words }) => words).join(", ")} in it stays as it is: nothing is put in its place.`,
          ),
        ]
      : []),
  ];
}

/** Nothing a custom command says is dropped silently: which of its fields and marks a chat does not act on. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { readFields } from "../validate/read-fields.ts";

/** What decides how a skill is run: a command is a message of the user, answered by the chat's own model. */
const NOT_OF_COMMANDS: ReadonlySet<string> = new Set([
  "input-schema",
  "context",
  "agent",
  "background",
  "model",
  "preferred-model",
  "effort",
  "max-iterations",
  "required-tools",
  "toolsets",
  "env",
  "packages",
  "capabilities",
  "sandbox",
  "shell",
  "hooks",
  "fallback",
]);

const MARKS: readonly (readonly [mark: RegExp, shown: string])[] = [
  [/(?:^|\s)!`[^`\n]+`|^```!/m, "commands in its text (``!`…` ``)"],
  [/(?:^|\s)@[\w~.-]*[./][\w./-]*\w/m, "files in its text (`@path`)"],
];

export function reportIdleParts(parsed: ParsedSkill): readonly Diagnostic[] {
  const { known } = readFields(parsed, () => undefined);
  const fields = known.filter(({ name, value }) => value !== null && NOT_OF_COMMANDS.has(name));
  const idle = [
    ...fields.map(({ key }) => `\`${key}\``),
    ...MARKS.filter(([mark]) => mark.test(parsed.body)).map(([, shown]) => shown),
  ];
  if (idle.length === 0) return [];
  return [
    {
      code: "definition.not-honoured",
      severity: "warning",
      path: parsed.candidate.file,
      message: `The command is sent without this, which this version does not act on: ${idle.join(", ")}.`,
      hint: "Make it a skill, or check that it can do without.",
    },
  ];
}

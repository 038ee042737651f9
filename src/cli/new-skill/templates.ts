/** The texts a new skill begins with: complete as they stand, each sentence a place to write the author's own. */
import type { TemplateName } from "./template-names.ts";

export interface TemplateFile {
  readonly path: string;
  readonly content: string;
  readonly executable?: boolean;
}

export interface TemplateInputs {
  readonly name: string;
  readonly description: string;
}

type Template = (inputs: TemplateInputs) => readonly TemplateFile[];

const TEMPLATES: Record<TemplateName, Template> = {
  basic: (inputs) => [{ path: "SKILL.md", content: skillFile(inputs, BASIC_BODY) }],
  script: (inputs) => [
    { path: "SKILL.md", content: skillFile(inputs, SCRIPT_BODY) },
    { path: "scripts/main.sh", content: SCRIPT, executable: true },
  ],
  reference: (inputs) => [
    { path: "SKILL.md", content: skillFile(inputs, REFERENCE_BODY) },
    { path: "references/guide.md", content: GUIDE },
  ],
};

export function templateFiles(template: TemplateName, inputs: TemplateInputs): readonly TemplateFile[] {
  return TEMPLATES[template](inputs);
}

/** A description to begin with: valid, and plainly in need of the author's words. */
export function defaultDescription(name: string): string {
  const words = name.replaceAll("-", " ");
  return `Help with ${words}. Use when the user asks for ${words}.`;
}

function skillFile({ name, description }: TemplateInputs, body: string): string {
  // JSON is YAML: any text is safe as a double-quoted scalar.
  return `---
name: ${name}
description: ${JSON.stringify(description)}
metadata:
  version: "0.1.0"
---

# ${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("-", " ")}

${body}`;
}

const BASIC_BODY = `1. Restate the task in one sentence and name what counts as done.
2. Do the work in small steps, and check each before the next.
3. If something is missing or contradictory, ask one precise question instead of guessing.
4. Answer with the result first, then what was checked.
`;

const SCRIPT_BODY = `1. Run the script with the user's input and read what it prints:

   \`\`\`sh
   scripts/main.sh "<input>"
   \`\`\`

2. Exit code 0 means the output is the result. Anything else: show the error and stop.
3. Explain the result in the user's own words; do not repeat the raw output.
`;

const SCRIPT = `#!/bin/sh
# Prints what it was given, counted. Replace by the work of this skill.
set -eu
if [ $# -lt 1 ]; then
  echo "usage: main.sh <input>" >&2
  exit 2
fi
printf '%s characters: %s\\n' "\${#1}" "$1"
`;

const REFERENCE_BODY = `1. Read \`references/guide.md\` before the first answer.
2. Follow the guide where it applies; where it is silent, say so and use your judgement.
3. Name the section of the guide that each decision rests on.
`;

const GUIDE = `# Guide

## Principles

- State the rule, then one example that follows it and one that does not.

## Examples

| Request | Good answer |
| --- | --- |
| A short one | What a good answer to it looks like |
`;

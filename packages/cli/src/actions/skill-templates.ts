/** The files `metier new` writes for each template: the skill, a test and an eval that run unchanged. */
import type { NewFlags } from "../commands/authoring.ts";

interface TemplateFile {
  readonly path: string;
  readonly content: string;
  readonly executable?: boolean;
}

interface Template {
  readonly body: string;
  /** Files besides the skill file, its test and its evals. */
  readonly files: readonly TemplateFile[];
  /** A case that shows how to test this kind of skill. */
  readonly test: (name: string) => string;
}

export function templateFiles(
  template: NewFlags["template"],
  name: string,
  description: string = defaultDescription(name),
): readonly TemplateFile[] {
  const { body, files, test } = TEMPLATES[template];
  const words = name.replaceAll("-", " ");
  return [
    { path: "SKILL.md", content: skillFile(name, description, body) },
    ...files,
    { path: `tests/${name}.test.yaml`, content: testFile(test(name)) },
    { path: "evals/evals.json", content: json(evalsOf(name, words)) },
    { path: "evals/eval_queries.json", content: json(queriesOf(words)) },
  ];
}

/** A valid first description that clearly asks for the author's own words. */
function defaultDescription(name: string): string {
  const words = name.replaceAll("-", " ");
  return `Help with ${words}. Use when the user asks for ${words}.`;
}

function skillFile(name: string, description: string, body: string): string {
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
# Prints its input with a count. Replace it with the work of this skill.
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

// Tests and evals.

function testFile(own: string): string {
  return `# Run with \`metier test\` and this skill's folder. No model is asked: a \`script\` answers in its place.
- name: the task follows the instructions
  arguments: an example
  expect:
    text:
      contains: "ARGUMENTS: an example"

${own}`;
}

const BASIC_TEST = `- name: the result comes first
  message: Do the example task.
  script:
    - expect:
        system: Answer with the result first
        last-user-text: Do the example task.
      answer:
        text: "Done: the example task. Checked: nothing is missing."
  expect:
    text: Done
    result: completed
`;

const SCRIPT_TEST = `- name: the instructions name the script
  expect:
    text:
      contains: scripts/main.sh
`;

function referenceTest(name: string): string {
  return `- name: a run reads the guide before it answers
  message: Do the example task.
  script:
    - answer:
        tool-calls:
          - tool: read_skill_file
            input: { skill: ${JSON.stringify(name)}, path: references/guide.md }
    - expect:
        tool-result: Principles
      answer:
        text: By the section Principles, it is done.
  expect:
    tools: [read_skill_file]
    text: Principles
`;
}

function evalsOf(name: string, words: string): object {
  return {
    skill_name: name,
    evals: [
      {
        id: 1,
        name: "First task",
        prompt: `Help me with ${words}: my input is "blue, green, red".`,
        expected_output: "The result first, then what was checked.",
        assertions: [
          { text: "The input is used", contains: "green" },
          "The answer starts with the result, not with a plan.",
        ],
      },
    ],
  };
}

/** For `metier eval triggers` and `metier describe`. */
function queriesOf(words: string): object {
  return [
    { query: `Please help me with ${words}`, should_trigger: true },
    { query: "What time is it in Lisbon?", should_trigger: false },
  ];
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const TEMPLATES: Record<NewFlags["template"], Template> = {
  basic: { body: BASIC_BODY, files: [], test: () => BASIC_TEST },
  script: {
    body: SCRIPT_BODY,
    files: [{ path: "scripts/main.sh", content: SCRIPT, executable: true }],
    test: () => SCRIPT_TEST,
  },
  reference: {
    body: REFERENCE_BODY,
    files: [{ path: "references/guide.md", content: GUIDE }],
    test: referenceTest,
  },
};

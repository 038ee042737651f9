/**
 * What the runs of the durability suite do, as a pure function of the conversation so far: whoever asks again gets the same
 * answer. The provider in the parent and the checks afterwards are made from it.
 */

export const KINDS = ["writer", "asker", "outer", "asking-outer"] as const;
export type Kind = (typeof KINDS)[number] | "inner" | "asking-inner";

/** `PLAN writer 7` */
export function planMessage(kind: Kind, number: number): string {
  return `PLAN ${kind} ${number}`;
}

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

const append = (line: string): Call => ({
  tool: "bash",
  input: { command: `echo ${line} >> "$METIER_WORK_DIR/log.txt"; sleep 0.05` },
});

/** The calls of each step; after the last the model says that it is done. */
const STEPS: Readonly<Record<Kind, (number: number) => readonly (readonly Call[])[]>> = {
  writer: () => [
    [append("one")],
    [append("two"), append("too")],
    [{ tool: "list_files", input: {} }],
    [append("three")],
  ],
  asker: () => [[append("one")], [append("two")], [append("three")]],
  outer: (number) => [
    [append("before")],
    [{ tool: "use_skill", input: { skill: "inner", message: planMessage("inner", number) } }],
    [append("after")],
  ],
  "asking-outer": (number) => [
    [{ tool: "use_skill", input: { skill: "asking-inner", message: planMessage("asking-inner", number) } }],
    [append("after")],
  ],
  inner: () => [[append("one")], [append("two")]],
  "asking-inner": () => [[append("one")], [append("two")]],
};

/** What is in `log.txt` of the work folder at the end, as a sorted list of lines. */
export const LINES: Readonly<Record<Kind, readonly string[]>> = {
  writer: ["one", "three", "too", "two"],
  asker: ["one", "three", "two"],
  outer: ["after", "before"],
  "asking-outer": ["after"],
  inner: ["one", "two"],
  "asking-inner": ["one", "two"],
};

export function stepsOf(kind: Kind): number {
  return STEPS[kind](0).length + 1;
}

/** What the model says after so many answers of its own. */
export function answerTo(kind: Kind, number: number, answered: number): readonly Call[] | string {
  return STEPS[kind](number)[answered] ?? `${kind} ${number} is done.`;
}

export const SKILLS: Readonly<Record<Kind, readonly [more?: string]>> = {
  writer: ["allowed-tools: Bash, list_files"],
  asker: [""],
  outer: ["allowed-tools: Bash, use_skill"],
  "asking-outer": [""],
  inner: ["context: fork\nallowed-tools: Bash"],
  "asking-inner": ["context: fork"],
};

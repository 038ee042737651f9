/**
 * What the runs of the durability suite do, as a pure function of the conversation so far: whoever asks again gets the same
 * answer. The provider in the parent and the checks afterwards are made from it.
 */

const ROOTS = [
  "writer",
  "asker",
  "outer",
  "asking-outer",
  "filer",
  "caller",
  "hooked",
  "talk-1",
  "talk-2",
  "talk-3",
] as const;
type Root = (typeof ROOTS)[number];
export type Kind = Root | "inner" | "asking-inner";

/** A run of the plan. A turn of a conversation names the one before it, and begins when that has ended. */
export interface PlannedRun {
  readonly id: string;
  readonly kind: Kind;
  readonly number: number;
  readonly previous?: string | undefined;
}

/** The next runs of the plan, numbered from `from`. */
export function planRuns(from: number, count: number, createId: () => string): readonly PlannedRun[] {
  const planned: PlannedRun[] = [];
  for (let number = from; planned.length < count; number += 1) {
    const kind = ROOTS[number % (ROOTS.length - 2)] ?? "writer";
    const first = { id: createId(), kind, number };
    planned.push(first);
    if (kind !== "talk-1") continue;
    const second = { id: createId(), kind: "talk-2", number, previous: first.id } as const;
    planned.push(second, { id: createId(), kind: "talk-3", number, previous: second.id });
  }
  return planned;
}

/** `PLAN writer 7` */
export function planMessage(kind: Kind, number: number): string {
  return `PLAN ${kind} ${number}`;
}

export function readPlan(message: string): { readonly kind: Kind; readonly number: number } {
  const [, kind = "writer", number = "0"] = /PLAN ([a-z0-9-]+) (\d+)/.exec(message) ?? [];
  return { kind: kind as Kind, number: Number(number) };
}

export function isTurn(kind: Kind): boolean {
  return kind.startsWith("talk-");
}

export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

/** Calls, or what the model says instead. */
type Step = readonly Call[] | string;

const bash = (command: string): Call => ({ tool: "bash", input: { command } });
const append = (line: string): Call => bash(`echo ${line} >> "$METIER_WORK_DIR/log.txt"; sleep 0.05`);
const write = (path: string, content: string): Call => ({ tool: "write_file", input: { path, content } });
const use = (skill: Kind, number: number): Call => ({
  tool: "use_skill",
  input: { skill, message: planMessage(skill, number) },
});
/** Asks the host for something. */
const ask = (operation: string, line: string, key?: string): string => {
  const text = JSON.stringify({ text: line });
  const named = key === undefined ? "" : ` -k ${key}`;
  return `metier-sb capability invoke -c ledger.book -o ${operation} -i '${text}'${named}`;
};
const note = (line: string): string => `echo "${line}" >> "$METIER_WORK_DIR/log.txt"`;
/** The same as a call, which notes it where it was done. */
const invoke = (operation: string, line: string, key?: string): Call =>
  bash(`${ask(operation, line, key)} && ${note(`${operation} ${line}`)}`);

/** Changes with such a line wait for a person, who is asked by a row of the journal; to others the program says yes at once. */
export function waitsForPerson(line: string): boolean {
  return line.startsWith("c");
}

/** What a `caller` asks the ledger for: each of them once. */
export function changesOf(number: number): readonly string[] {
  const names = ["set s", "add a", "add p", "set t", "add ca", "set cs"];
  return names.map((name) => `${name}${number}`);
}

/** The steps of each kind; after the last the model says that it is done. */
const STEPS: Readonly<Record<Kind, (number: number) => readonly Step[]>> = {
  writer: () => [
    [append("one")],
    [append("two"), append("too")],
    [{ tool: "list_files", input: {} }],
    [append("three")],
  ],
  asker: () => [[append("one")], [append("two")], [append("three")]],
  outer: (number) => [[append("before")], [use("inner", number)], [append("after")]],
  "asking-outer": (number) => [[use("asking-inner", number)], [append("after")]],
  inner: () => [[append("one")], [append("two")]],
  "asking-inner": () => [[append("one")], [append("two")]],
  filer: () => [
    [write("plan/notes.md", "one\n"), write("plan/other.md", "other\n")],
    [{ tool: "edit_file", input: { path: "plan/notes.md", old_string: "one", new_string: "one\ntwo" } }],
    [{ tool: "read_file", input: { path: "plan/notes.md" } }],
    [
      bash(
        'cd "$METIER_WORK_DIR" && mkdir -p empty && mv plan/other.md moved.sh && chmod 755 moved.sh && ln -s moved.sh link && head -c 300000 /dev/zero | tr "\\0" x > big',
      ),
      { tool: "edit_file", input: { path: "plan/notes.md", old_string: "two", new_string: "two\nthree" } },
    ],
    [bash('cd "$METIER_WORK_DIR" && rm big && echo four >> plan/notes.md')],
  ],
  caller: (number) => [
    [invoke("set", `s${number}`, `set-${number}`)],
    [invoke("set", `s${number}`, `set-${number}`)],
    [invoke("add", `a${number}`, `add-${number}`)],
    [invoke("add", `a${number}`, `add-${number}`), invoke("add", `p${number}`)],
    // The call is ended where it has to wait, and begins again: what stands before it must not happen twice.
    [bash(`${ask("set", `t${number}`)} && ${ask("add", `ca${number}`)} && ${note(`add ca${number}`)}`)],
    [invoke("set", `cs${number}`)],
  ],
  hooked: () => [
    [{ tool: "list_files", input: {} }],
    [append("one"), append("two")],
    "Not yet.",
    "It is FINISHED.",
  ],
  "talk-1": () => [[append("one")]],
  "talk-2": () => [[append("two")], [write("told.txt", "told\n")]],
  "talk-3": () => [[append("three")]],
};

/** What is in the work folder at the end: files with their mode and content (lines of `log.txt` sorted), links, folders. */
export const FOLDERS: Readonly<Record<Exclude<Kind, "caller">, Readonly<Record<string, string>>>> = {
  writer: log("one", "three", "too", "two"),
  asker: log("one", "three", "two"),
  outer: log("after", "before"),
  "asking-outer": log("after"),
  inner: log("one", "two"),
  "asking-inner": log("one", "two"),
  filer: {
    empty: "folder",
    link: "link to moved.sh",
    "moved.sh": "755 other\n",
    plan: "folder",
    "plan/notes.md": "644 one\ntwo\nthree\nfour\n",
  },
  hooked: log("one", "post", "post", "post", "pre bash", "pre bash", "pre list_files", "stop", "stop", "two"),
  "talk-1": { ...log("one", "three", "two"), "told.txt": "644 told\n" },
  "talk-2": {},
  "talk-3": {},
};

function log(...lines: readonly string[]): Readonly<Record<string, string>> {
  return { "log.txt": `644 ${lines.join("\n")}\n` };
}

export function stepsOf(kind: Kind): number {
  const steps = STEPS[kind](0);
  return steps.length + (typeof steps.at(-1) === "string" ? 0 : 1);
}

/** What the model says after so many answers of its own. */
export function answerTo(kind: Kind, number: number, answered: number): Step {
  return STEPS[kind](number)[answered] ?? doneText(kind, number);
}

export function doneText(kind: Kind, number: number): string {
  return `${kind} ${number} is done.`;
}

const HOOKS = `hooks:
  pre-tool:
    - command: 'echo "pre $(grep -o "\\"\\(bash\\|list_files\\)\\"" | head -1 | tr -d "\\"")" >> "$METIER_WORK_DIR/log.txt"'
  post-tool:
    - command: 'echo post >> "$METIER_WORK_DIR/log.txt"; sleep 0.05'
  stop:
    - command: 'echo stop >> "$METIER_WORK_DIR/log.txt"; sleep 0.05; grep -q FINISHED || { echo Write FINISHED. >&2; exit 2; }'`;

export const SKILLS: Readonly<Record<string, readonly [more?: string]>> = {
  writer: ["allowed-tools: Bash, list_files"],
  asker: [""],
  outer: ["allowed-tools: Bash, use_skill"],
  "asking-outer": [""],
  inner: ["context: fork\nallowed-tools: Bash"],
  "asking-inner": ["context: fork"],
  filer: ["allowed-tools: Bash, Read, Write, Edit"],
  caller: ["capabilities: [ledger.book]\nallowed-tools: Bash"],
  hooked: [`allowed-tools: Bash, list_files\n${HOOKS}`],
};

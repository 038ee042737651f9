/**
 * Chooses the program that runs a script: from its first line, else from its extension. A Python script that lists
 * packages (in a PEP 723 comment) runs with `uv`, which installs them; one that lists none, or whose skill has its
 * packages installed, runs with plain Python.
 */
import { basename, extname } from "node:path";
import { showPath } from "@metier/base/files";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { splitCommand } from "@metier/skills/config";

export interface ScriptInterpreter {
  /** What must be in the sandbox. */
  readonly program: string;
  /** The command, before the script's path. */
  readonly argv: readonly string[];
  /** What a Python script says it needs. */
  readonly metadata?: InlineMetadata;
}

type Command = readonly [program: string, ...options: string[]];

/** Types are removed while loading; the reader needn't know that older versions call this experimental. */
const TYPED_NODE: Command = ["node", "--disable-warning=ExperimentalWarning"];

const BY_ENDING: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({
    ".sh": ["sh"],
    ".bash": ["bash"],
    ".py": ["python3"],
    ".js": ["node"],
    ".mjs": ["node"],
    ".cjs": ["node"],
    ".ts": TYPED_NODE,
    ".mts": TYPED_NODE,
    ".cts": TYPED_NODE,
    ".rb": ["ruby"],
    ".pl": ["perl"],
  }),
);

/** Different systems' names for the same program. */
const SAME_PROGRAM: ReadonlyMap<string, string> = new Map([
  ["python", "python3"],
  ["nodejs", "node"],
]);

const PYTHON = /^python(?:3(?:\.\d+)?)?$/;
const UV_SCRIPT = ["uv", "run", "--script"];
/** `uv run` without anything that adds packages. */
const PLAIN_UV = /^uv run(?: (?:--script|-s|--quiet|-q|--no-project))*$/;

/** `hasPackages`: the Python packages that the skill locks are installed. */
export async function chooseInterpreter(
  script: string,
  text: string,
  hasPackages = false,
): Promise<Result<ScriptInterpreter, string>> {
  const found = findInterpreter(script, text);
  if (found === undefined) return refused(explainUnknown(script));
  const isPython = PYTHON.test(found.program);
  if (!isPython && found.program !== "uv") return done(found);
  const reading = await readInlineMetadata(text);
  if (!reading.ok) {
    return refused(`The inline metadata of ${showPath(script)} is invalid: ${reading.refusal}.`);
  }
  const metadata = reading.value ?? { dependencies: [] };
  if (metadata.dependencies.length > 0 && !hasPackages) {
    return done({ program: "uv", argv: isPython ? UV_SCRIPT : found.argv, metadata });
  }
  if (isPython) return done({ ...found, metadata });
  const isPlain = PLAIN_UV.test(found.argv.join(" "));
  return done(isPlain ? { program: "python3", argv: ["python3"], metadata } : found);
}

function findInterpreter(script: string, text: string): Shebang | undefined {
  const shebang = readShebang(text);
  if (shebang === undefined) {
    const command = BY_ENDING.get(extname(script).toLowerCase());
    return command && { program: command[0], argv: command };
  }
  const { program: named, argv } = shebang;
  const program = SAME_PROGRAM.get(named) ?? named;
  return { program, argv: argv.with(argv.indexOf(named), program) };
}

function explainUnknown(script: string): string {
  const endings = [...BY_ENDING.keys()].join(", ");
  return `No interpreter is known for ${showPath(script)}: it needs a first line like \`#!/usr/bin/env python3\`, or one of the extensions ${endings}.`;
}

/** `program` is one of the words of `argv`. */
type Shebang = Pick<ScriptInterpreter, "program" | "argv">;

const FIRST_LINE = /^\uFEFF?#!([^\r\n]*)/;
/** `-S`, and what is joined to it. */
const SPLIT_OPTION = /^(?:-S|--split-string=?)\s*/;

/**
 * A script's first line, as the words that start it: `#!/usr/bin/env -S node --x` → `node --x`; `undefined` if there is
 * no such line, or it names no program.
 */
export function readShebang(text: string): Shebang | undefined {
  const [, line = ""] = FIRST_LINE.exec(text) ?? [];
  const [, path = "", rest = ""] = /^\s*(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
  const program = basename(path);
  if (program === "") return undefined;
  return program === "env"
    ? readEnv(rest)
    : { program, argv: [program, ...rest.split(/\s+/).filter(Boolean)] };
}

/** With its own options or variables, `env` itself is started; it knows them best. */
function readEnv(rest: string): Shebang | undefined {
  const words = splitCommand(rest.replace(SPLIT_OPTION, "")) ?? [];
  const named = words.find((word) => !(word.startsWith("-") || word.includes("=")));
  if (named === undefined) return undefined;
  const program = basename(named);
  const argv = words.with(words.indexOf(named), program);
  return { program, argv: argv[0] === program ? argv : ["env", ...argv] };
}

interface InlineMetadata {
  /** Such as `>=3.11`. */
  readonly requiresPython?: string | undefined;
  /** Such as `requests<3`; empty: any Python can run it. */
  readonly dependencies: readonly string[];
}

/** `undefined`: the script has none. A refusal starts in lowercase. */
type MetadataReading = Result<InlineMetadata | undefined, string>;

const OPENING = "# /// script";
const CLOSING = "# ///";
const COMMENT = /^#(?: |$)/;
const MAX_BLOCK_LINES = 1000;
const MAX_DEPENDENCIES = 200;

export async function readInlineMetadata(text: string): Promise<MetadataReading> {
  const blocks = findBlocks(text);
  const [block] = blocks;
  if (block === undefined) return done(undefined);
  if (blocks.length > 1) return refused("it has more than one `# /// script` block");
  if (block.length > MAX_BLOCK_LINES) return refused(`it has more than ${MAX_BLOCK_LINES} lines`);
  const { parse, TomlError } = await import("smol-toml");
  try {
    return readFields(parse(block.map((line) => line.slice(2)).join("\n")));
  } catch (fault) {
    if (!(fault instanceof TomlError)) throw fault;
    const [first = ""] = fault.message.split("\n");
    return refused(`it is not valid TOML: ${first.replace(/^Invalid TOML document: /, "")}`);
  }
}

/**
 * The comment lines of each block. If there are several closing lines, the last one counts; without one, there is no
 * block.
 */
function findBlocks(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r?\n/);
  const blocks: string[][] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] !== OPENING) continue;
    let end = at + 1;
    let closing: number | undefined;
    for (; COMMENT.test(lines[end] ?? ""); end++) if (lines[end] === CLOSING) closing = end;
    if (closing !== undefined) blocks.push(lines.slice(at + 1, closing));
    at = closing ?? end - 1; // Without a closing line, later openings in the same comment have none either.
  }
  return blocks;
}

function readFields(table: Readonly<Record<string, unknown>>): MetadataReading {
  const { dependencies = [], "requires-python": requiresPython } = table;
  if (!(Array.isArray(dependencies) && dependencies.every((entry) => typeof entry === "string")))
    return refused("`dependencies` must be a list of strings");
  if (dependencies.length > MAX_DEPENDENCIES) {
    return refused(`\`dependencies\` has ${dependencies.length} entries; the limit is ${MAX_DEPENDENCIES}`);
  }
  if (requiresPython !== undefined && typeof requiresPython !== "string")
    return refused(
      `\`requires-python\` must be a string like \`">=3.11"\`, not ${showValue(requiresPython)}`,
    );
  return done({ dependencies, requiresPython });
}

type Release = readonly number[];

const CLAUSE = /^(~=|===?|!=|<=|>=|<|>)\s*(\d{1,4}(?:\.\d{1,4}){0,3})(\.\*)?$/;

/** `requires-python` with the comparisons of PEP 440 on release numbers; `undefined` if it can't be read. */
export function meetsRequirement(version: string, requirement: string): boolean | undefined {
  const found = readRelease(version);
  const clauses = requirement
    .split(",")
    .map((clause) => clause.trim())
    .filter(Boolean);
  let isMet = true;
  for (const clause of clauses) {
    const [, operator = "", wanted = "", star] = CLAUSE.exec(clause) ?? [];
    const compare = COMPARISONS[operator];
    if (!compare || (star !== undefined && !TAKES_STAR.has(operator))) return undefined;
    isMet &&= compare(found, readRelease(wanted), star !== undefined);
  }
  return isMet;
}

const TAKES_STAR: ReadonlySet<string> = new Set(["==", "!="]);

const COMPARISONS: Readonly<Record<string, (found: Release, wanted: Release, isPrefix: boolean) => boolean>> =
  {
    ">=": (found, wanted) => order(found, wanted) >= 0,
    "<=": (found, wanted) => order(found, wanted) <= 0,
    ">": (found, wanted) => order(found, wanted) > 0,
    "<": (found, wanted) => order(found, wanted) < 0,
    "==": isSame,
    "===": isSame,
    "!=": (found, wanted, isPrefix) => !isSame(found, wanted, isPrefix),
    // `~=3.11` is `>=3.11, ==3.*`.
    "~=": (found, wanted) => order(found, wanted) >= 0 && isSame(found, wanted.slice(0, -1), true),
  };

function isSame(found: Release, wanted: Release, isPrefix: boolean): boolean {
  return order(isPrefix ? found.slice(0, wanted.length) : found, wanted) === 0;
}

function order(a: Release, b: Release): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readRelease(text: string): Release {
  return text.split(".").map(Number);
}

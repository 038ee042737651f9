/**
 * Which program runs a script: what its first line names, else what its ending says. A Python script that names packages
 * is run by `uv`, which brings them; one that names none, or whose skill has its packages installed, by Python alone.
 */
import { extname } from "node:path";
import { showPath } from "../../host/contained-path.ts";
import { type InlineMetadata, readInlineMetadata } from "./inline-metadata.ts";
import { readShebang } from "./shebang.ts";

export type ChosenInterpreter =
  | {
      readonly ok: true;
      /** What must be in the sandbox. */
      readonly program: string;
      /** The command, before the script's path. */
      readonly argv: readonly string[];
      /** What a Python script says it needs. */
      readonly metadata?: InlineMetadata;
    }
  | { readonly ok: false; readonly message: string };

type Command = readonly [program: string, ...options: string[]];

/** Types are taken out as it loads; that this is still called experimental by older versions is not the reader's concern. */
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

/** Names that systems have for one and the same. */
const SAME_PROGRAM: ReadonlyMap<string, string> = new Map([
  ["python", "python3"],
  ["nodejs", "node"],
]);

const PYTHON = /^python(?:3(?:\.\d+)?)?$/;
const UV_SCRIPT = ["uv", "run", "--script"];
/** `uv run` with nothing that brings packages. */
const PLAIN_UV = /^uv run(?: (?:--script|-s|--quiet|-q|--no-project))*$/;

/** `hasPackages`: the Python packages that the skill locks are there. */
export async function chooseInterpreter(
  script: string,
  text: string,
  hasPackages = false,
): Promise<ChosenInterpreter> {
  const found = findInterpreter(script, text);
  if (found === undefined) return { ok: false, message: explainUnknown(script) };
  const isPython = PYTHON.test(found.program);
  if (!isPython && found.program !== "uv") return { ok: true, ...found };
  const reading = await readInlineMetadata(text);
  if (!reading.ok) {
    const message = `The inline metadata of ${showPath(script)} cannot be used: ${reading.message}.`;
    return { ok: false, message };
  }
  const { metadata = { dependencies: [] } } = reading;
  if (metadata.dependencies.length > 0 && !hasPackages) {
    return { ok: true, program: "uv", argv: isPython ? UV_SCRIPT : found.argv, metadata };
  }
  if (isPython) return { ok: true, ...found, metadata };
  const isPlain = PLAIN_UV.test(found.argv.join(" "));
  return isPlain ? { ok: true, program: "python3", argv: ["python3"], metadata } : { ok: true, ...found };
}

function findInterpreter(
  script: string,
  text: string,
): { readonly program: string; readonly argv: readonly string[] } | undefined {
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
  return `Nothing says what runs ${showPath(script)}: it needs a first line like \`#!/usr/bin/env python3\`, or one of the endings ${endings}.`;
}

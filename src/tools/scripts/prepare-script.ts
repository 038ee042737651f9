/**
 * A script of a skill as a command that can be run: only a file of the skill by the one path gate, without a shell,
 * started in the skill's folder. What interprets it, and what it says it needs, is read from the file itself.
 */

import { readSync } from "node:fs";
import { Readable } from "node:stream";
import { showPath } from "../../host/contained-path.ts";
import { openContained, withContained } from "../../host/open-contained.ts";
import type { Sandbox, SandboxCommand } from "../../sandbox/sandbox.ts";
import type { World } from "../../sandbox/world.ts";
import type { Json } from "../../skill/manifest.ts";
import { explainMissing, explainPrograms } from "../missing-program.ts";
import { MAX_OUTPUT_BYTES, type ModelCommand } from "../run-command.ts";
import { type ChosenInterpreter, chooseInterpreter } from "./choose-interpreter.ts";
import { meetsRequirement } from "./python-version.ts";

export interface ScriptCall {
  /** Path in the skill's folder. */
  readonly script: string;
  readonly args?: readonly string[];
  /** A text as it is; anything else as JSON. A stream is passed on as it comes. */
  readonly stdin?: Json | AsyncIterable<string | Uint8Array>;
}

/** Where it would run. */
export interface ScriptPlace {
  readonly sandbox: Sandbox;
  readonly world: World;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export type PreparedScript =
  | {
      readonly ok: true;
      readonly command: ModelCommand;
      /** What to say when a program is not in the sandbox. */
      explainMissing(program: string): string;
    }
  | {
      readonly ok: false;
      /** `missing`: there is no such file of the skill. `program`: the sandbox cannot have what runs it. */
      readonly reason: "missing" | "unusable" | "program";
      readonly message: string;
    };

/** Of a file, to see what runs it: a first line, and the metadata that a Python script begins with. */
const MAX_READ_BYTES = 256 * 1024;
const MAX_STDIN_BYTES = 8 * 1024 * 1024;

export async function prepareScript(call: ScriptCall, place: ScriptPlace): Promise<PreparedScript> {
  const { script, args = [] } = call;
  const { skillDir } = place.world;
  if (skillDir === undefined)
    return { ok: false, reason: "missing", message: "This skill has no folder, so it has no scripts." };
  const file = withContained(openContained(skillDir, script), ({ descriptor, realPath }) => ({
    realPath,
    text: readBeginning(descriptor),
  }));
  if ("ok" in file) return { ok: false, reason: "missing", message: toSentence(file.message) };
  const stdin = readStdin(call.stdin);
  if (!stdin.ok) return unusable(stdin.message);
  const hasPackages = place.world.placed?.some(({ variable }) => variable === "PYTHONPATH") ?? false;
  const chosen = await chooseInterpreter(script, file.text, hasPackages);
  if (!chosen.ok) return unusable(chosen.message);
  const noPrograms = explainShellOnly(script, chosen.program, place.sandbox);
  if (noPrograms !== undefined) return { ok: false, reason: "program", message: noPrograms };
  const wrongPython = await checkPython(script, chosen, place);
  if (wrongPython !== undefined) return unusable(wrongPython);
  return {
    ok: true,
    command: {
      argv: [...chosen.argv, file.realPath, ...args],
      world: place.world,
      cwd: skillDir,
      env: place.env,
      limits: { timeoutMs: place.timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES },
      ...stdin.given,
    },
    explainMissing: (program) => explainFor(program, script, chosen),
  };
}

function readBeginning(descriptor: number): string {
  const bytes = Buffer.alloc(MAX_READ_BYTES);
  return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, MAX_READ_BYTES, 0));
}

type Stdin =
  | { readonly ok: true; readonly given: Pick<SandboxCommand, "stdin"> }
  | { readonly ok: false; readonly message: string };

function readStdin(stdin: ScriptCall["stdin"]): Stdin {
  if (stdin === undefined) return { ok: true, given: {} };
  if (stdin === null) return { ok: true, given: { stdin: "null" } };
  if (isStream(stdin)) return { ok: true, given: { stdin: Readable.from(stdin) } };
  const text = typeof stdin === "string" ? stdin : JSON.stringify(stdin);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_STDIN_BYTES) return { ok: true, given: { stdin: text } };
  const message = `\`stdin\` has ${bytes} bytes; at most ${MAX_STDIN_BYTES} are allowed. Put it into a file in the work folder, and give the script its path.`;
  return { ok: false, message };
}

function isStream(stdin: NonNullable<ScriptCall["stdin"]>): stdin is AsyncIterable<string | Uint8Array> {
  return typeof stdin === "object" && Symbol.asyncIterator in stdin;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash"]);

function explainShellOnly(
  script: string,
  program: string,
  { runsPrograms, backend }: Sandbox,
): string | undefined {
  if (runsPrograms || SHELLS.has(program)) return undefined;
  return `${showPath(script)} needs \`${program}\`, and the sandbox \`${backend}\` is a shell without programs. \`metier doctor\` says how this machine gets a full one.`;
}

const PRINT_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:3])))";

/** Why the Python of the sandbox does not do, for a script that says which it needs. `uv` chooses one itself. */
async function checkPython(
  script: string,
  { program, metadata }: Extract<ChosenInterpreter, { ok: true }>,
  { sandbox, world, env, signal }: ScriptPlace,
): Promise<string | undefined> {
  const wanted = metadata?.requiresPython;
  if (wanted === undefined || program === "uv") return undefined;
  const outcome = await sandbox.run({
    argv: [program, "-c", PRINT_VERSION],
    world,
    env,
    limits: { timeoutMs: 10_000, maxOutputBytes: 4096 },
    ...(signal && { signal }),
  });
  if (outcome.exitCode !== 0) return undefined; // What is wrong with it, the script's own start says.
  const version = outcome.stdout.trim();
  const isMet = meetsRequirement(version, wanted);
  if (isMet) return undefined;
  const what = isMet === undefined ? "which cannot be read" : `and the sandbox has ${version}`;
  return `${showPath(script)} says \`requires-python = "${wanted}"\`, ${what}. Change what it says, or bring another Python into the sandbox: \`[sandbox] programs\` in your config.`;
}

function explainFor(
  program: string,
  script: string,
  { metadata }: Extract<ChosenInterpreter, { ok: true }>,
): string {
  const needed = metadata?.dependencies ?? [];
  if (program !== "uv" || needed.length === 0) return explainMissing(program);
  const names = needed.map((name) => `\`${name}\``).join(", ");
  return `${showPath(script)} needs ${names}, which \`uv\` would bring, and \`uv\` is not in the sandbox. ${explainPrograms("uv")}`;
}

function unusable(message: string): PreparedScript {
  return { ok: false, reason: "unusable", message };
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/**
 * `run_script`: runs a script of a skill in the sandbox, without a shell. That of the running skill runs in the world of the
 * run; that of another skill in a world of its own, with the lower trust of both. A script is a file of the skill by the one
 * path gate; what interprets it, and what it says it needs, is read from the file itself.
 */
import { readSync } from "node:fs";
import { Readable } from "node:stream";
import { openContained, showPath, withContained } from "@metier/base/files";
import type { Json, JsonSchema } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { Sandbox, SandboxCommand } from "@metier/sandbox";
import {
  explainMissing,
  explainNoSandbox,
  explainPrograms,
  MAX_OUTPUT_BYTES,
  type ModelCommand,
  runForModel,
} from "../run-command.ts";
import { suggestSkills } from "../skill-tools.ts";
import {
  fault,
  inputSchema,
  type Tool,
  type ToolContext,
  type ToolInput,
  type ToolOutput,
  textSchema,
} from "../tool.ts";
import { chooseInterpreter, meetsRequirement, type ScriptInterpreter } from "./choose-interpreter.ts";

/** Where a script of another skill runs; open until `close`. */
interface OpenedPlace extends Pick<ToolContext, "world" | "sandbox" | "env"> {
  readonly ok: true;
  close(): Promise<void>;
}

/** Opens the place of another skill, by all checks; a refusal is words for the model. */
export type OpenScriptPlace = (
  skill: string,
  context: ToolContext,
) => Promise<OpenedPlace | { readonly ok: false; readonly message: string }>;

export interface RunScriptOptions {
  readonly timeoutMs: number;
  /** The skill that runs, where it has a folder: it need not be named. */
  readonly own?: string | undefined;
  /** Other skills with folders that may be read here, as they are now. */
  others(): readonly string[];
  readonly open: OpenScriptPlace;
}

/** A larger list of names would cost more than it says; the call is checked whatever its schema says. */
const MOST_NAMES = 100;

const ADVICE = {
  moreTime: "`skills.script-timeout-ms` in the user's config gives scripts more time.",
  marksJson: true,
};

export function runScriptTool(options: RunScriptOptions): Tool {
  const { own, timeoutMs } = options;
  return {
    name: "run_script",
    description: [
      "Runs a script of a skill in the sandbox and gives its exit code, standard output and standard error.",
      "It starts in the skill's folder, which is read-only; `$METIER_WORK_DIR` is writable, and what is in `$METIER_DATA_DIR` is kept for the next time.",
    ].join(" "),
    inputSchema: scriptSchema(options),
    effect: "execute",
    async execute(input, context) {
      const skill = input.skill ?? own;
      if (skill === own && own !== undefined) return run(input, context, context, timeoutMs);
      const others = options.others();
      if (typeof skill !== "string" || !others.includes(skill)) return fault(explainMiss(skill, own, others));
      const place = await options.open(skill, context);
      if (!place.ok) return fault(place.message);
      try {
        return await run(input, context, place, timeoutMs);
      } finally {
        await place.close();
      }
    },
  };
}

function scriptSchema({ own, others }: RunScriptOptions): JsonSchema {
  const names = others();
  const skill = {
    type: "string",
    description: own === undefined ? "Whose script it is." : `Whose script it is. Default: \`${own}\`.`,
    ...(names.length < MOST_NAMES && { enum: [...(own === undefined ? [] : [own]), ...names] }),
  };
  const stdin = "What it reads from standard input: a text, or any other JSON value, which it gets as JSON.";
  return inputSchema(
    {
      ...(names.length > 0 && { skill }),
      script: textSchema("Path in the skill's folder: `scripts/report.py`."),
      args: { type: "array", items: { type: "string" }, maxItems: 100, description: "Its arguments." },
      stdin: { description: stdin },
    },
    own === undefined ? ["skill", "script"] : ["script"],
  );
}

async function run(
  input: ToolInput,
  context: ToolContext,
  { world, env, sandbox }: Pick<ToolContext, "world" | "env" | "sandbox">,
  timeoutMs: number,
): Promise<ToolOutput> {
  if (!sandbox) return explainNoSandbox();
  const { signal } = context;
  const call = input as unknown as ScriptCall;
  const prepared = await prepareScript(call, { sandbox, world, env, signal, timeoutMs });
  if (!prepared.ok) return fault(prepared.refusal.message);
  const { command, explainMissing: onMissing } = prepared.value;
  return runForModel(sandbox, command, context, { ...ADVICE, onMissing });
}

function explainMiss(asked: Json | undefined, own: string | undefined, others: readonly string[]): string {
  if (typeof asked !== "string") return "`skill` must say whose script it is.";
  const hint = suggestSkills(asked, [...(own === undefined ? [] : [own]), ...others]);
  return `There is no skill ${showValue(asked)} whose scripts could be run here. ${hint}`;
}

interface ScriptCall {
  /** Path in the skill's folder. */
  readonly script: string;
  readonly args?: readonly string[];
  /** A text as it is; anything else as JSON. A stream is passed on as it comes. */
  readonly stdin?: Json | AsyncIterable<string | Uint8Array>;
}

/** Where it would run. */
interface ScriptPlace extends Pick<ToolContext, "world" | "env"> {
  readonly sandbox: Sandbox;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PreparedScript {
  readonly command: ModelCommand;
  /** What to say when a program is not in the sandbox. */
  readonly explainMissing: (program: string) => string;
}

interface ScriptRefusal {
  /** `missing`: there is no such file of the skill. `program`: the sandbox cannot have what runs it. */
  readonly reason: "missing" | "unusable" | "program";
  readonly message: string;
}

/** Of a file, to see what runs it: a first line, and the metadata that a Python script begins with. */
const MAX_READ_BYTES = 256 * 1024;
const MAX_STDIN_BYTES = 8 * 1024 * 1024;

export async function prepareScript(
  call: ScriptCall,
  place: ScriptPlace,
): Promise<Result<PreparedScript, ScriptRefusal>> {
  const unusable = (message: string) => refused({ reason: "unusable", message } as const);
  const { script, args = [] } = call;
  const { skillDir } = place.world;
  if (skillDir === undefined)
    return refused({ reason: "missing", message: "This skill has no folder, so it has no scripts." });
  const file = withContained(openContained(skillDir, script), ({ descriptor, realPath }) => ({
    realPath,
    text: readBeginning(descriptor),
  }));
  if ("ok" in file) return refused({ reason: "missing", message: toSentence(file.message) });
  const stdin = readStdin(call.stdin);
  if (!stdin.ok) return unusable(stdin.refusal);
  const hasPackages = place.world.placed?.some(({ variable }) => variable === "PYTHONPATH") ?? false;
  const choice = await chooseInterpreter(script, file.text, hasPackages);
  if (!choice.ok) return unusable(choice.refusal);
  const chosen = choice.value;
  const noPrograms = explainShellOnly(script, chosen.program, place.sandbox);
  if (noPrograms !== undefined) return refused({ reason: "program", message: noPrograms });
  const wrongPython = await checkPython(script, chosen, place);
  if (wrongPython !== undefined) return unusable(wrongPython);
  return done({
    command: {
      argv: [...chosen.argv, file.realPath, ...args],
      world: place.world,
      cwd: skillDir,
      env: place.env,
      limits: { timeoutMs: place.timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES },
      ...(stdin.value !== undefined && { stdin: stdin.value }),
    },
    explainMissing: (program) => explainFor(program, script, chosen),
  });
}

function readBeginning(descriptor: number): string {
  const bytes = Buffer.alloc(MAX_READ_BYTES);
  return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, MAX_READ_BYTES, 0));
}

function readStdin(stdin: ScriptCall["stdin"]): Result<SandboxCommand["stdin"], string> {
  if (stdin === undefined) return done(undefined);
  if (stdin === null) return done("null");
  if (isStream(stdin)) return done(Readable.from(stdin));
  const text = typeof stdin === "string" ? stdin : JSON.stringify(stdin);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_STDIN_BYTES) return done(text);
  return refused(
    `\`stdin\` has ${bytes} bytes; at most ${MAX_STDIN_BYTES} are allowed. Put it into a file in the work folder, and give the script its path.`,
  );
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
  { program, metadata }: ScriptInterpreter,
  { sandbox, world, env, signal }: ScriptPlace,
): Promise<string | undefined> {
  const wanted = metadata?.requiresPython;
  if (wanted === undefined || program === "uv") return undefined;
  const outcome = await sandbox.run({
    argv: [program, "-c", PRINT_VERSION],
    world,
    env,
    limits: { timeoutMs: 10_000, maxOutputBytes: 4096 },
    signal,
  });
  if (outcome.exitCode !== 0) return undefined; // What is wrong with it, the script's own start says.
  const version = outcome.stdout.trim();
  const isMet = meetsRequirement(version, wanted);
  if (isMet) return undefined;
  const what = isMet === undefined ? "which cannot be read" : `and the sandbox has ${version}`;
  return `${showPath(script)} says \`requires-python = "${wanted}"\`, ${what}. Change what it says, or bring another Python into the sandbox: \`[sandbox] programs\` in your config.`;
}

function explainFor(program: string, script: string, { metadata }: ScriptInterpreter): string {
  const needed = metadata?.dependencies ?? [];
  if (program !== "uv" || needed.length === 0) return explainMissing(program);
  const names = needed.map((name) => `\`${name}\``).join(", ");
  return `${showPath(script)} needs ${names}, which \`uv\` would bring, and \`uv\` is not in the sandbox. ${explainPrograms("uv")}`;
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

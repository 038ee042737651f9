/**
 * `run_script`: runs a skill's script in the sandbox, without a shell. The running skill's script runs in the run's
 * world; another skill's in its own world, with the lower trust of both. A script is a file of the skill, checked by
 * the one path gate; its interpreter and requirements are read from the file itself.
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

/** Where another skill's script runs; open until `close`. */
interface OpenedPlace extends Pick<ToolContext, "world" | "sandbox" | "env"> {
  readonly ok: true;
  close(): Promise<void>;
}

/** Opens another skill's place, after all checks; the refusal is text for the model. */
export type OpenScriptPlace = (
  skill: string,
  context: ToolContext,
) => Promise<OpenedPlace | { readonly ok: false; readonly message: string }>;

export interface RunScriptOptions {
  readonly timeoutMs: number;
  /** The running skill, if it has a folder: it needn't be named. */
  readonly own?: string | undefined;
  /** Other skills with folders that may be read here, as they are now. */
  others(): readonly string[];
  readonly open: OpenScriptPlace;
}

/** A longer list of names would cost more than it helps; the call is checked anyway. */
const MOST_NAMES = 100;

const ADVICE = {
  moreTime: "The user can allow scripts more time with `skills.script-timeout-ms` in their config.",
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
  return `There is no skill ${showValue(asked)} whose scripts can run here. ${hint}`;
}

interface ScriptCall {
  /** Path in the skill's folder. */
  readonly script: string;
  readonly args?: readonly string[];
  /** A string is sent unchanged; anything else as JSON. A stream is passed on as it arrives. */
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
  /** The message if a program isn't in the sandbox. */
  readonly explainMissing: (program: string) => string;
}

interface ScriptRefusal {
  /** `missing`: the skill has no such file. `program`: the sandbox can't have what runs it. */
  readonly reason: "missing" | "unusable" | "program";
  readonly message: string;
}

/** How much of a file is read to see what runs it: the first line, and a Python script's metadata. */
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
    `\`stdin\` has ${bytes} bytes; the limit is ${MAX_STDIN_BYTES}. Put it in a file in the work folder, and pass its path to the script.`,
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
  return `${showPath(script)} needs \`${program}\`, but the sandbox \`${backend}\` is a shell without programs. \`metier doctor\` shows how to get a full one.`;
}

const PRINT_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:3])))";

/** Why the sandbox's Python doesn't fit a script that says which it needs. `uv` chooses one itself. */
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
  if (outcome.exitCode !== 0) return undefined; // The script's own start reports what is wrong with it.
  const version = outcome.stdout.trim();
  const isMet = meetsRequirement(version, wanted);
  if (isMet) return undefined;
  const what = isMet === undefined ? "which is not valid" : `but the sandbox has ${version}`;
  return `${showPath(script)} sets \`requires-python = "${wanted}"\`, ${what}. Change it, or add another Python to the sandbox: \`[sandbox] programs\` in your config.`;
}

function explainFor(program: string, script: string, { metadata }: ScriptInterpreter): string {
  const needed = metadata?.dependencies ?? [];
  if (program !== "uv" || needed.length === 0) return explainMissing(program);
  const names = needed.map((name) => `\`${name}\``).join(", ");
  return `${showPath(script)} needs ${names}, which \`uv\` would install, but the sandbox has no \`uv\`. ${explainPrograms("uv")}`;
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

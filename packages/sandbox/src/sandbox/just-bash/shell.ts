/**
 * A separate program that runs one command with a bash interpreter in JavaScript. Node restricts its process to the
 * world's folders and prevents it from starting anything (`just-bash.ts`); the file system (`shell-file-system.ts`) is
 * the gate before that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import {
  Bash,
  type BashOptions,
  type CommandName,
  type CustomCommand,
  defineCommand,
  getCommandNames,
  InMemoryFs,
} from "just-bash/browser";
import { quoteWord } from "../sandbox.ts";
import type { World } from "../world/world.ts";
import { createShellFileSystem } from "./shell-file-system.ts";
import { createWorldDisk } from "./world-disk.ts";

/** What this process gets, as JSON on a descriptor: its world and command, and nothing else. */
export interface ShellRequest {
  readonly argv: readonly string[];
  readonly world: World;
  readonly cwd: string;
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxFileBytes?: number | undefined;
  /** For both streams together, kept or dropped. */
  readonly maxOutputBytes: number;
  /** Added once if a program was not found. */
  readonly noPrograms: string;
}

const REQUEST_DESCRIPTOR = 3;

const MEGABYTE = 1024 * 1024;
const TEMPORARY_BYTES = 256 * MEGABYTE;
const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Without what this build leaves out, and without a network client. */
const LEFT_OUT = new Set(["html-to-markdown", "sqlite3"]);
const COMMANDS = getCommandNames().filter((name) => !LEFT_OUT.has(name)) as CommandName[];

/** Time and memory are limited from outside; counting here would stop honest loops early. */
const EXECUTION_LIMITS: NonNullable<BashOptions["executionLimits"]> = {
  maxCommandCount: NO_LIMIT,
  maxLoopIterations: NO_LIMIT,
  maxAwkIterations: NO_LIMIT,
  maxSedIterations: NO_LIMIT,
  maxJqIterations: NO_LIMIT,
  maxWorkUnits: NO_LIMIT,
  maxExecutionTimeMs: NO_LIMIT,
};

interface ShellResult {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

async function runShell(asked: ShellRequest, stdin: Buffer): Promise<ShellResult> {
  const { world, cwd, env, argv, maxFileBytes, maxOutputBytes, noPrograms } = asked;
  const passwd = `metier:x:1000:1000:metier:${world.workDir}:/bin/sh\n`;
  const memory = new InMemoryFs({ "/etc/passwd": passwd }, { maxTotalBytes: TEMPORARY_BYTES });
  memory.mkdirSync("/tmp");
  const fs = createShellFileSystem(world, createWorldDisk(world, maxFileBytes), memory);
  const options = { cwd, commands: COMMANDS, customCommands: [createGuard(fs.whyNotWritable)] };
  // A separate shell sets up `/bin`, `/dev` and `/proc` in memory; the one in use can no longer change them.
  new Bash({ ...options, fs: memory });
  const executionLimits = { ...EXECUTION_LIMITS, maxOutputSize: maxOutputBytes };
  // Also set here: it passes only these variables to shells that a script starts.
  const bash = new Bash({ ...options, fs, env: { ...env }, executionLimits });
  bash.registerTransformPlugin(guardRedirections);
  const [program = "", ...words] = argv;
  const given = { stdin: stdin.toString("latin1"), stdinKind: "bytes", env, replaceEnv: true, cwd } as const;
  const result = isScript(argv)
    ? await bash.exec(words[1] ?? "", { ...given, rawScript: true })
    : await bash.exec(quoteWord(program), { ...given, args: words });
  return {
    exitCode: result.exitCode,
    stdout: Buffer.from(result.stdout, result.stdoutKind === "bytes" ? "latin1" : "utf8"),
    stderr: explainMissing(result.stderr, noPrograms),
  };
}

/** The interpreter cannot report a write that fails in the middle of a command to its script. */
function giveUp(error: Error): ShellResult {
  return { exitCode: 1, stdout: new Uint8Array(), stderr: `bash: ${error.message}\n` };
}

function isScript(argv: readonly string[]): boolean {
  return argv.length === 3 && (argv[0] === "bash" || argv[0] === "sh") && argv[1] === "-c";
}

/**
 * How the interpreter reports a request for a program of the machine: by name, or by a file that is not a shell script.
 */
const BROWSER_ADVICE = /command not available in browser environments\..*/g;
const MISSING =
  /^bash: (?:.*: (?:command not found|Permission denied)|\/.*\/s?bin\/\S+: No such file or directory)$/m;

function explainMissing(stderr: string, noPrograms: string): string {
  const said = stderr.replace(BROWSER_ADVICE, "command not found");
  return MISSING.test(said) ? `${said}${noPrograms}\n` : said;
}

/*
 * The interpreter does not expect a file system that refuses, and would abort when a redirection's target cannot be
 * written. So each target is first passed to a command of ours, whose output becomes the target: the redirection then
 * fails as in a shell, skipping its command while the script continues.
 */

type Transform = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Transform["transform"]>[0]["ast"];

const GUARD = "metier-redirect";
const WRITING = new Set([">", ">>", ">|", "&>", "&>>"]);
/** Makes the interpreter refuse a target; not shown. */
const NO_TARGET = "\0";

/** `whyNot` answers for an absolute path. */
function createGuard(whyNot: (path: string) => Promise<string | undefined>): CustomCommand {
  return defineCommand(GUARD, async ([target = ""], { fs, cwd }) => {
    const reason = target === "" ? undefined : await whyNot(fs.resolvePath(cwd, target));
    const stdout = reason === undefined ? target : `${target}${reason}${NO_TARGET}`;
    return { stdout, stderr: "", exitCode: 0 };
  });
}

const guardRedirections: Transform = {
  name: GUARD,
  transform: ({ ast }) => ({ ast: guardIn(ast) as Script }),
};

function guardIn(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(guardIn);
  if (typeof node !== "object" || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, guardIn(value)]));
  return isWriting(inner) ? { ...inner, target: askGuard(inner.target) } : inner;
}

function isWriting({ type, operator, target }: Readonly<Record<string, unknown>>): boolean {
  const isWord = (target as { readonly type?: unknown } | undefined)?.type === "Word";
  return type === "Redirection" && WRITING.has(String(operator)) && isWord;
}

/** `"$(metier-redirect <word>)"`. */
function askGuard(word: unknown): unknown {
  const name = { type: "Word", parts: [{ type: "Literal", value: GUARD }] };
  const command = { type: "SimpleCommand", name, args: [word], assignments: [], redirections: [] };
  const pipeline = { type: "Pipeline", commands: [command], negated: false, timed: false, timePosix: false };
  const statement = { type: "Statement", pipelines: [pipeline], operators: [], background: false };
  const body = { type: "Script", statements: [statement] };
  const substitution = { type: "CommandSubstitution", body, legacy: false };
  return { type: "Word", parts: [{ type: "DoubleQuoted", parts: [substitution] }] };
}

const request = JSON.parse(readFileSync(REQUEST_DESCRIPTOR, "utf8")) as ShellRequest;
const { exitCode, stdout, stderr } = await runShell(request, readFileSync(0)).catch(giveUp);
writeFileSync(1, stdout);
writeFileSync(2, stderr);
process.exit(exitCode); // Whatever the interpreter still waits for.

/**
 * A program of its own: carries out one command by an interpreter for bash in JavaScript. It runs in a process that Node
 * holds to the folders of the world and lets start nothing (`just-bash.ts`); the file system below is the gate before that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Bash, type BashOptions, type CommandName, getCommandNames, InMemoryFs } from "just-bash/browser";
import { createGuard, guardRedirections } from "./guard-redirections.ts";
import { createShellFileSystem } from "./shell-file-system.ts";
import { REQUEST_DESCRIPTOR, type ShellRequest } from "./shell-request.ts";
import { createWorldDisk } from "./world-disk.ts";

const MEGABYTE = 1024 * 1024;
const TEMPORARY_BYTES = 256 * MEGABYTE;
const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Without what this build leaves out, and without a client for the network. */
const LEFT_OUT = new Set(["html-to-markdown", "sqlite3"]);
const COMMANDS = getCommandNames().filter((name) => !LEFT_OUT.has(name)) as CommandName[];

/** Time and memory are limited from outside; what is counted here would stop honest loops early. */
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
  // A shell of its own lays out `/bin`, `/dev` and `/proc` in memory; the one that is used can no longer change them.
  new Bash({ ...options, fs: memory });
  const executionLimits = { ...EXECUTION_LIMITS, maxOutputSize: maxOutputBytes };
  // Given here as well: only these variables does it pass on to the shells that a script starts.
  const bash = new Bash({ ...options, fs, env: { ...env }, executionLimits });
  bash.registerTransformPlugin(guardRedirections);
  const [program = "", ...words] = argv;
  const given = { stdin: stdin.toString("latin1"), stdinKind: "bytes", env, replaceEnv: true, cwd } as const;
  const result = isScript(argv)
    ? await bash.exec(words[1] ?? "", { ...given, rawScript: true })
    : await bash.exec(quote(program), { ...given, args: words });
  return {
    exitCode: result.exitCode,
    stdout: Buffer.from(result.stdout, result.stdoutKind === "bytes" ? "latin1" : "utf8"),
    stderr: explainMissing(result.stderr, noPrograms),
  };
}

/** A write that fails in the middle of a command is more than the interpreter can tell its script. */
function giveUp(error: Error): ShellResult {
  return { exitCode: 1, stdout: new Uint8Array(), stderr: `bash: ${error.message}\n` };
}

function isScript(argv: readonly string[]): boolean {
  return argv.length === 3 && (argv[0] === "bash" || argv[0] === "sh") && argv[1] === "-c";
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** How the interpreter says that a program of the machine was asked for: by name, or by a file that is no shell script. */
const BROWSER_ADVICE = /command not available in browser environments\..*/g;
const MISSING =
  /^bash: (?:.*: (?:command not found|Permission denied)|\/.*\/s?bin\/\S+: No such file or directory)$/m;

function explainMissing(stderr: string, noPrograms: string): string {
  const said = stderr.replace(BROWSER_ADVICE, "command not found");
  return MISSING.test(said) ? `${said}${noPrograms}\n` : said;
}

const request = JSON.parse(readFileSync(REQUEST_DESCRIPTOR, "utf8")) as ShellRequest;
const { exitCode, stdout, stderr } = await runShell(request, readFileSync(0)).catch(giveUp);
writeFileSync(1, stdout);
writeFileSync(2, stderr);
process.exit(exitCode); // Whatever the interpreter still waits for.

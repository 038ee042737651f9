/**
 * Commands in a skill's text (`parse/find-commands.ts`) are found before arguments are put in, run in the sandbox, and
 * their output is never looked at again. Arguments reach a command as variables, which no shell reads as code.
 */
import { cleanText } from "../disclose/clean-text.ts";
import type { BodyPiece } from "../parse/find-commands.ts";
import { shorten } from "../parse/shorten.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { ArgumentValues } from "./arguments.ts";

/** Where commands run. */
export interface CommandPlace {
  readonly sandbox: Sandbox;
  readonly world: World;
  readonly signal?: AbortSignal;
}

const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 16 * 1024 } as const;
const MOST_COMMANDS = 20;

/** The outputs in order, one for each command of the body. A command that fails gives a short text that says so. */
export async function runCommands(
  pieces: readonly BodyPiece[],
  values: ArgumentValues,
  place: CommandPlace,
): Promise<readonly string[]> {
  const outputs: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "text") continue;
    const isTooMany = outputs.length >= MOST_COMMANDS;
    outputs.push(
      isTooMany
        ? failure(piece.command, `at most ${MOST_COMMANDS} commands of a text are run`)
        : await runCommand(piece.command, values, place),
    );
  }
  return outputs;
}

async function runCommand(
  command: string,
  values: ArgumentValues,
  { sandbox, world, signal }: CommandPlace,
): Promise<string> {
  const { words } = values;
  const outcome = await sandbox.run({
    // `$0`, `$1` … are the arguments themselves, counted from 0 as in the text.
    argv: ["bash", "--norc", "-c", useVariables(command), ...(words.length > 0 ? words : ["bash"])],
    world,
    env: commandEnvironment(values, world.skillDir),
    limits: LIMITS,
    ...(signal && { signal }),
  });
  const { ended, exitCode, stdout, stderr, droppedBytes, reason } = outcome;
  if (ended === "exited" && exitCode === 0) {
    const { text } = cleanText(stdout);
    return text.trimEnd() + (droppedBytes > 0 ? `\n[${droppedBytes} more bytes were left out]` : "");
  }
  const why = ended === "exited" ? `exit code ${exitCode}` : (reason ?? ended);
  const said = shorten(cleanText(stderr).text.trim());
  return failure(command, said === "" ? why : `${why}: ${said}`);
}

function failure(command: string, why: string): string {
  return `[command \`${shorten(command)}\` failed: ${why}]`;
}

/** A shell knows no `$ARGUMENTS[1]`; the variable of that argument is meant. */
function useVariables(command: string): string {
  return command.replace(/\$ARGUMENTS\[(\d{1,2})\]/g, (_whole, index: string) => `\${ARG_${Number(index)}}`);
}

const VARIABLE = /^[a-z_][a-z0-9_]*$/;

/**
 * `ARGUMENTS` is the whole line, `ARG_0`, `ARG_1` … each of them; declared names in lower case are variables too. Others
 * could be names by which programs are told what to do, such as `PATH`.
 */
function commandEnvironment(
  { line, words, names }: ArgumentValues,
  skillDir = "",
): Readonly<Record<string, string>> {
  const named = names
    .filter((name) => VARIABLE.test(name))
    .map((name) => [name, words[names.indexOf(name)] ?? ""]);
  const numbered = words.map((word, index) => [`ARG_${index}`, word]);
  return Object.fromEntries([
    ...named,
    ...numbered,
    ["ARGUMENTS", line],
    ["METIER_SKILL_DIR", skillDir],
    ["CLAUDE_SKILL_DIR", skillDir],
  ]);
}

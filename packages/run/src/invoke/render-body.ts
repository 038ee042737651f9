/**
 * Renders a skill's body for its reader: finds commands first, then fills arguments into the text between them, then
 * joins both. So neither can influence the other.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { realPathOr } from "@metier/base/places";
import { cleanText } from "@metier/base/text";
import type { Sandbox, World } from "@metier/sandbox";
import { type BodyPiece, findCommands, hasFolder, type Skill, shorten } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import { type Execution, pathOf } from "./choose-execution.ts";
import type { EffectiveTrust } from "./conversation-trust.ts";
import { joinArguments } from "./invocation.ts";

interface BodyRequest {
  readonly skill: Skill;
  readonly execution: Execution;
  readonly trust: EffectiveTrust;
  /** One line as typed, or a list. */
  readonly arguments: string | readonly string[];
  /** Whether the config allows commands in texts. */
  readonly isDynamic: boolean;
  readonly commandPlace?: ((skill: Skill) => Promise<CommandPlace | undefined>) | undefined;
}

export async function renderBody(
  body: string,
  request: BodyRequest,
): Promise<{ readonly text: string; readonly diagnostics: readonly Diagnostic[] }> {
  const { skill } = request;
  const values = readArguments(request.arguments, skill.manifest.arguments, directoryOf(request));
  const pieces = findCommands(body);
  const place = await decidePlace(pieces, request);
  const outputs = typeof place === "object" ? await runCommands(pieces, values, place) : [];
  const filled = pieces.map((piece) =>
    piece.kind === "text" ? fillPlaceholders(piece.text, values) : undefined,
  );
  let command = 0;
  const text = pieces.map((piece, index) => filled[index]?.text ?? outputs[command++] ?? piece.text).join("");
  const isUsed = filled.some((piece) => piece?.isUsed);
  return {
    text: cleanText(isUsed ? text : appendArguments(text, values)).text,
    diagnostics: typeof place === "string" ? [reportLeft(skill, pieces, place)] : [],
  };
}

/** The folder as the reader sees it: a run's tools see real paths. */
function directoryOf({ skill, execution }: BodyRequest): string | undefined {
  if (!hasFolder(skill)) return undefined;
  return execution === "isolated" ? realPathOr(skill.directory) : skill.directory;
}

const SHELLS = new Set(["bash", "sh"]);

/** Where its commands run, or why they don't; nothing if there are none. */
async function decidePlace(
  pieces: readonly BodyPiece[],
  { skill, trust, isDynamic, commandPlace }: BodyRequest,
): Promise<CommandPlace | string | undefined> {
  if (pieces.every(({ kind }) => kind === "text")) return undefined;
  if (!trustAllows(trust.level, "run-dynamic-shell-context")) {
    return `the skill is untrusted here. ${trust.reason}`;
  }
  if (!isDynamic) return "`skills.dynamic-context` is off; set it to `true` in your config to run them.";
  const { shell = "bash" } = skill.manifest;
  if (!SHELLS.has(shell)) return `the skill wants \`${shell}\`, but Metier runs them in \`bash\`.`;
  return (
    (await commandPlace?.(skill)) ?? "no sandbox is available to run them in; `metier doctor` shows why."
  );
}

function reportLeft(skill: Skill, pieces: readonly BodyPiece[], why: string): Diagnostic {
  const count = pieces.filter(({ kind }) => kind === "command").length;
  const what = count === 1 ? "The command in its text was" : `The ${count} commands in its text were`;
  return {
    code: "invoke.dynamic-context",
    severity: "warning",
    path: pathOf(skill),
    message: `${what} left as written: ${why}`,
  };
}

/** Where commands run. */
export interface CommandPlace {
  readonly sandbox: Sandbox;
  readonly world: World;
  readonly signal?: AbortSignal | undefined;
}

const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 16 * 1024 } as const;
const MOST_COMMANDS = 20;

/**
 * Commands in a skill's text (`parse/find-commands.ts`) are found before arguments are filled in, run in the sandbox,
 * and their output isn't processed again. Arguments reach a command as variables, which no shell reads as code.
 *
 * Returns the outputs in order, one per command. A command that fails returns a short message.
 */
async function runCommands(
  pieces: readonly BodyPiece[],
  values: ArgumentValues,
  place: CommandPlace,
): Promise<readonly string[]> {
  const outputs: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "text") continue;
    const isTooMany = outputs.length >= MOST_COMMANDS;
    const output = isTooMany
      ? failure(piece.command, `a text can run at most ${MOST_COMMANDS} commands`)
      : await runCommand(piece.command, values, place);
    outputs.push(output);
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
    // `$0`, `$1` … are the arguments, counted from 0 as in the text.
    argv: ["bash", "--norc", "-c", useVariables(command), ...(words.length > 0 ? words : ["bash"])],
    world,
    env: commandEnvironment(values, world.skillDir),
    limits: LIMITS,
    signal,
  });
  const { ended, exitCode, stdout, stderr, droppedBytes, reason } = outcome;
  if (ended === "exited" && exitCode === 0) {
    const { text } = cleanText(stdout);
    return text.trimEnd() + (droppedBytes > 0 ? `\n[${droppedBytes} more bytes left out]` : "");
  }
  const why = ended === "exited" ? `exit code ${exitCode}` : (reason ?? ended);
  const said = shorten(cleanText(stderr).text.trim());
  return failure(command, said === "" ? why : `${why}: ${said}`);
}

function failure(command: string, why: string): string {
  return `[command \`${shorten(command)}\` failed: ${why}]`;
}

/** A shell has no `$ARGUMENTS[1]`; the variable of that argument is meant. */
function useVariables(command: string): string {
  return command.replace(/\$ARGUMENTS\[(\d{1,2})\]/g, (_whole, index: string) => `\${ARG_${Number(index)}}`);
}

const VARIABLE = /^[a-z_][a-z0-9_]*$/;

/**
 * `ARGUMENTS` is the whole line, `ARG_0`, `ARG_1` … its parts; declared lowercase names are variables too. Others could
 * control programs, as `PATH` does.
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

interface ArgumentValues {
  /** As typed, including quotes; `""` if there are none. */
  readonly line: string;
  /** Whether `$N` is a placeholder: not without arguments, because the body may have its own dollar signs. */
  readonly isGiven: boolean;
  /** The same, split. */
  readonly words: readonly string[];
  /** The skill's names for them, in order: its `arguments`. */
  readonly names: readonly string[];
  /** The skill's folder as the reader sees it; absent for a skill without one. */
  readonly skillDirectory?: string | undefined;
}

/**
 * Fills arguments into a skill's body in one pass: inserted text isn't processed again. The body's own dollar signs
 * (`awk '{print $1}'`, `$5.00`, `$HOME`) stay wherever they can be told from placeholders.
 */
export function readArguments(
  given: string | readonly string[] = "",
  names: readonly string[] = [],
  skillDirectory?: string,
): ArgumentValues {
  const line = joinArguments(given);
  if (typeof given !== "string") return { line, isGiven: true, words: given, names, skillDirectory };
  const isGiven = line.trim() !== "";
  const words = isGiven ? splitArguments(line) : [];
  return { line: isGiven ? line : "", isGiven, words, names, skillDirectory };
}

/** All of it for a body without commands: placeholders, or the arguments at the end. */
export function substituteArguments(body: string, values: ArgumentValues): string {
  const { text, isUsed } = fillPlaceholders(body, values);
  return isUsed ? text : appendArguments(text, values);
}

/**
 * `$ARGUMENTS[N]`, `$ARGUMENTS`, `$name` and `$N`, counted from 0, and `${METIER_SKILL_DIR}`. A backslash before one
 * keeps it as written. A missing argument is empty; but without any arguments, `$N` belongs to the body. `isUsed`:
 * whether there was a placeholder for arguments.
 */
function fillPlaceholders(
  body: string,
  values: ArgumentValues,
): { readonly text: string; readonly isUsed: boolean } {
  let isUsed = false;
  const text = body.replace(placeholderPattern(values.names), (...match) => {
    const { backslash, folder, index, all, name, position } = match.at(-1) as Groups;
    const written = match[0] as string;
    if (backslash) return written.slice(1);
    if (folder) return values.skillDirectory ?? written;
    if (position && !values.isGiven) return written;
    isUsed = true;
    if (all) return values.line;
    const number = name === undefined ? Number(index ?? position) : values.names.indexOf(name);
    return values.words[number] ?? "";
  });
  return { text, isUsed };
}

function appendArguments(text: string, { line }: ArgumentValues): string {
  return line === "" ? text : `${text.replace(/(?<!\n)\n+$/, "")}\n\nARGUMENTS: ${line}\n`;
}

type Groups = Readonly<
  Partial<Record<"backslash" | "folder" | "index" | "all" | "name" | "position", string | undefined>>
>;

/** At most two digits, not followed by anything that makes them an amount, a longer number or a name. */
const POSITION = String.raw`(?<position>0|[1-9]\d?)(?![\w[]|[.,]\d)`;
const FIXED = String.raw`\{(?<folder>(?:METIER|CLAUDE)_SKILL_DIR)\}|ARGUMENTS\[(?<index>\d+)\]|(?<all>ARGUMENTS)(?!\w)`;
const NAME = /^[A-Za-z_][\w-]{0,63}$/;
const MOST_NAMES = 100;

/** Longest name first, so that `$file-name` isn't read as `$file`. */
function placeholderPattern(names: readonly string[]): RegExp {
  const usable = names.slice(0, MOST_NAMES).filter((name) => NAME.test(name));
  const longestFirst = usable.sort((a, b) => b.length - a.length);
  const named = usable.length > 0 ? `(?<name>${longestFirst.join("|")})(?!\\w)|` : "";
  return new RegExp(String.raw`(?<backslash>\\)?\$(?:${FIXED}|${named}${POSITION})`, "g");
}

/**
 * Splits a line of arguments as a POSIX shell would, but without a shell: only quotes and backslashes. If a quote is
 * never closed, only blanks separate arguments.
 */
export function splitArguments(line: string): readonly string[] {
  return splitQuoted(line) ?? line.split(/\s+/).filter((word) => word !== "");
}

/** One part of an argument, with the blanks before it. */
const PART = /(\s*)(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+))/sy;

function splitQuoted(line: string): readonly string[] | undefined {
  const text = line.trimEnd();
  const words: string[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null) return undefined;
    const [, blanks, single, double, escaped, plain] = match;
    const part = single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "";
    const isNewWord = words.length === 0 || blanks !== "";
    if (isNewWord) words.push(part);
    else words[words.length - 1] += part;
  }
  return words;
}

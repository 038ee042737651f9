/**
 * A skill's body as its reader gets it: commands are found first, then arguments are put into the text between them, then
 * both are joined. So neither can make the other do anything.
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
  /** One line, as it was typed, or each by itself. */
  readonly arguments: string | readonly string[];
  /** Whether the config lets commands in texts run. */
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

/** The folder as the reader sees it: the tools of a run see real paths. */
function directoryOf({ skill, execution }: BodyRequest): string | undefined {
  if (!hasFolder(skill)) return undefined;
  return execution === "isolated" ? realPathOr(skill.directory) : skill.directory;
}

const SHELLS = new Set(["bash", "sh"]);

/** Where its commands run, or why they do not; nothing when there are none. */
async function decidePlace(
  pieces: readonly BodyPiece[],
  { skill, trust, isDynamic, commandPlace }: BodyRequest,
): Promise<CommandPlace | string | undefined> {
  if (pieces.every(({ kind }) => kind === "text")) return undefined;
  if (!trustAllows(trust.level, "run-dynamic-shell-context")) {
    return `the skill is untrusted here. ${trust.reason}`;
  }
  if (!isDynamic)
    return "`skills.dynamic-context` is off; set it to `true` in your config if they are to run.";
  const { shell = "bash" } = skill.manifest;
  if (!SHELLS.has(shell)) return `the skill wants them to run in \`${shell}\`; Metier has \`bash\`.`;
  return (
    (await commandPlace?.(skill)) ?? "there is no sandbox here to run them in; `metier doctor` says why."
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
 * Commands in a skill's text (`parse/find-commands.ts`) are found before arguments are put in, run in the sandbox, and
 * their output is never looked at again. Arguments reach a command as variables, which no shell reads as code.
 *
 * The outputs in order, one for each command of the body. A command that fails gives a short text that says so.
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
      ? failure(piece.command, `at most ${MOST_COMMANDS} commands of a text are run`)
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
    // `$0`, `$1` … are the arguments themselves, counted from 0 as in the text.
    argv: ["bash", "--norc", "-c", useVariables(command), ...(words.length > 0 ? words : ["bash"])],
    world,
    env: commandEnvironment(values, world.skillDir),
    limits: LIMITS,
    signal,
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

interface ArgumentValues {
  /** As typed, quotes and all; `""` when none were given. */
  readonly line: string;
  /** Whether `$N` is a placeholder: not where nobody gave arguments, as the body may have a dollar sign of its own. */
  readonly isGiven: boolean;
  /** The same taken apart. */
  readonly words: readonly string[];
  /** What the skill calls them, in order: its `arguments`. */
  readonly names: readonly string[];
  /** The skill's folder as the reader sees it; absent for a skill without one. */
  readonly skillDirectory?: string | undefined;
}

/**
 * Puts arguments into a skill's body, in one pass: what was put in is never looked at again. A body's own dollar signs
 * (`awk '{print $1}'`, `$5.00`, `$HOME`) stay as they are wherever they can be told from placeholders.
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

/** The whole of it for a body that holds no commands: placeholders, or the arguments at the end. */
export function substituteArguments(body: string, values: ArgumentValues): string {
  const { text, isUsed } = fillPlaceholders(body, values);
  return isUsed ? text : appendArguments(text, values);
}

/**
 * `$ARGUMENTS[N]`, `$ARGUMENTS`, `$name` and `$N`, counted from 0, and `${METIER_SKILL_DIR}`. A backslash before one
 * keeps it as it is written. What was not given is empty; but with no arguments at all, `$N` is the body's own. `isUsed`:
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

/** At most two digits, and nothing behind them that makes an amount, a longer number or a name of them. */
const POSITION = String.raw`(?<position>0|[1-9]\d?)(?![\w[]|[.,]\d)`;
const FIXED = String.raw`\{(?<folder>(?:METIER|CLAUDE)_SKILL_DIR)\}|ARGUMENTS\[(?<index>\d+)\]|(?<all>ARGUMENTS)(?!\w)`;
const NAME = /^[A-Za-z_][\w-]{0,63}$/;
const MOST_NAMES = 100;

/** The longest name first, so that `$file-name` is not `$file` with something behind it. */
function placeholderPattern(names: readonly string[]): RegExp {
  const usable = names.slice(0, MOST_NAMES).filter((name) => NAME.test(name));
  const longestFirst = usable.sort((a, b) => b.length - a.length);
  const named = usable.length > 0 ? `(?<name>${longestFirst.join("|")})(?!\\w)|` : "";
  return new RegExp(String.raw`(?<backslash>\\)?\$(?:${FIXED}|${named}${POSITION})`, "g");
}

/**
 * Takes a line of arguments apart as a POSIX shell would, without a shell: quotes and backslashes, nothing else. Quotes
 * that are never closed make no sense; then blanks alone stand between arguments.
 */
export function splitArguments(line: string): readonly string[] {
  return splitQuoted(line) ?? line.split(/\s+/).filter((word) => word !== "");
}

/** One part of an argument, with whatever blanks stand before it. */
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

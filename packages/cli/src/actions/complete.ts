/**
 * `metier __complete`: what could come next on a command line, one `value<Tab>explanation` per line, for the scripts
 * that `metier completion` prints. A line `:files` or `:dirs` asks the shell to complete files or folders. Prints
 * nothing rather than a wrong guess or an error: the user is still typing.
 */
import { safeLine, toKebabCase } from "@metier/base/text";
import type { DeclaredCommand, Flag } from "../commands/define.ts";
import { COMMANDS } from "../commands/groups.ts";
import type { CliIo } from "../context.ts";
import { wordForms } from "../output/help-text.ts";
import { cutText } from "../output/style.ts";
import { findFlag, flagsOf, readLine, readWords } from "./complete-line.ts";
import { type Candidate, type Place, valuesFor } from "./complete-values.ts";

export async function complete(args: readonly string[], io: CliIo): Promise<void> {
  const [shell, ...rest] = args;
  const words = shell === "bash" ? readWords(rest[1] ?? "") : rest;
  const current = words.at(-1) ?? "";
  const found = await candidatesFor(words.slice(1, -1), current, io);
  // Bash completes only the part after its last break character, so it gets only that part.
  const cut = shell === "bash" ? lastBreak(current, rest[0] ?? "") : 0;
  const lines = [...new Map(found)]
    .filter(isPlain)
    .filter(([value]) => value.startsWith(":") || value.startsWith(current));
  for (const [value, about] of lines) {
    const isPlace = value.startsWith(":");
    io.stdout.write(isPlace ? `${value}\n` : `${value.slice(cut)}\t${cutText(safeLine(about), 60)}\n`);
  }
}

/** Shells quote in different ways and names come from anyone, so values that need quotes are left out. */
function isPlain([value]: Candidate): boolean {
  return /^(?::files|:dirs|[\p{L}\p{N}_@%+=,./-][\p{L}\p{N}_@%+=:,./-]*)$/u.test(value);
}

function lastBreak(word: string, breaks: string): number {
  return Math.max(...["=", ":"].map((mark) => (breaks.includes(mark) ? word.lastIndexOf(mark) + 1 : 0)));
}

async function candidatesFor(
  before: readonly string[],
  current: string,
  io: CliIo,
): Promise<readonly Candidate[]> {
  const line = readLine(before);
  const flags = flagsOf(line.command);
  if (line.open !== undefined) return valuesFor(placeOf(line.open, flags[line.open]), line.options, io);
  const [, name, given] = /^--([\w-]+)=(.*)$/s.exec(current) ?? [];
  if (name !== undefined && given !== undefined && !line.isEscaped) {
    const flag = findFlag(name, flags);
    const values = flag === undefined ? [] : await valuesFor(placeOf(flag, flags[flag]), line.options, io);
    return values.map(([value, about]) => [value.startsWith(":") ? value : `--${name}=${value}`, about]);
  }
  if (current.startsWith("-") && !line.isEscaped) return flagCandidates(line.command, flags);
  if (line.command === undefined) return commandCandidates(line.holder, current);
  const next = nextWords(line.command, line.words);
  const values = await Promise.all(next.map((place) => valuesFor(place, line.options, io)));
  return values.flat();
}

/** Offers aliases only once the user starts typing one. */
function commandCandidates(isBehindHolder: boolean, current: string): readonly Candidate[] {
  const own = COMMANDS.flatMap(({ name, also, brief }): readonly Candidate[] => [
    [name, brief],
    ...(current === "" ? [] : also).map((other): Candidate => [other, `Same as ${name}`]),
  ]);
  return isBehindHolder ? own : [...own, ["help", "Show help for a command"]];
}

function flagCandidates(
  command: DeclaredCommand | undefined,
  flags: Readonly<Record<string, Flag>>,
): readonly Candidate[] {
  const all = Object.entries(flags).flatMap(([name, flag]): readonly Candidate[] => {
    const kebab = toKebabCase(name);
    const hasOpposite = flag.kind === "boolean" && !("default" in flag);
    return [[`--${kebab}`, flag.brief], ...(hasOpposite ? [[`--no-${kebab}`, flag.brief] as const] : [])];
  });
  const letters = Object.entries(command?.letters ?? {}).map(
    ([letter, name]): Candidate => [`-${letter}`, flags[name]?.brief ?? ""],
  );
  return [...all, ...letters, ["--help", "Show help"]];
}

function placeOf(name: string, flag: Flag | undefined): Place {
  if (flag?.kind === "enum") return { kind: "words", words: flag.values };
  const placeholder = flag?.kind === "parsed" ? flag.placeholder : "";
  return { kind: "value", name: name === "skill" ? "skill" : placeholder, flag: name, brief: "" };
}

/** What may follow these words, by the command's usage. */
function nextWords(command: DeclaredCommand, words: readonly string[]): readonly Place[] {
  const brief = command.positional?.parameter?.brief ?? command.positional?.parameters?.[0]?.brief ?? "";
  const forms = wordForms(command);
  // A word that is an action (`trust list`) is not also a value (`trust <target>...`).
  const ofAction = forms.filter((form) => words.length > 0 && form.split(" ")[0] === words[0]);
  return (ofAction.length > 0 ? ofAction : forms).flatMap((form): readonly Place[] => {
    const parts = form.split(" ").filter((part) => part !== "");
    const last = parts.at(-1) ?? "";
    const at = (index: number): string => parts[index] ?? (last.includes("...") ? last : "");
    if (!words.every((word, index) => at(index).includes("<") || at(index) === word)) return [];
    const part = at(words.length);
    const name = /<([\w-]+)>/.exec(part)?.[1];
    if (name !== undefined) return [{ kind: "value", name, brief, flag: "" }];
    return part === "" ? [] : [{ kind: "words", words: [part], about: command.actions?.[form] }];
  });
}

/**
 * Help, made from the command declarations: the overview and a page for each command, within 80 columns. Also words
 * what the man page and completion need from the same declarations: usage lines and option labels.
 */
import { VERSION } from "@metier/base/places";
import { toKebabCase } from "@metier/base/text";
import { COMMON_FLAGS, type DeclaredCommand, type Flag, type Positional } from "../commands/define.ts";
import { GROUPS } from "../commands/groups.ts";

const WIDTH = 80;
/** Labels up to this width share a line with their text; after a longer one, the text starts on the next line. */
const LABEL_WIDTH = 26;

/** The page that `metier` and `metier --help` print. */
export function overviewText(): string {
  const commands = Object.values(GROUPS).flat();
  const width = Math.max(...commands.map(({ name }) => name.length));
  const groups = Object.entries(GROUPS).map(([group, members]) => {
    const rows = members.map(({ name, brief, also }) => [name, brief + alsoText(also)] as const);
    return `${group}\n${columns(rows, width)}`;
  });
  return [
    `metier ${VERSION} - the runtime for Agent Skills`,
    "Usage: metier <command> [options]",
    ...groups,
    `Common options\n${columns(optionRows(COMMON_FLAGS, {}))}`,
    "Run `metier <command> --help` for its options and examples.\n",
  ].join("\n\n");
}

/** The page that `metier <command> --help` prints. */
export function commandText(command: DeclaredCommand): string {
  const { brief, also, description, actions, positional, flags, letters, examples } = command;
  const options = optionRows(flags, letters);
  const common = Object.keys(COMMON_FLAGS).map((name) => `--${name}`);
  return [
    ...wrap(brief + alsoText(also), WIDTH),
    "",
    ...usageLines(command).map((line, index) => `${index === 0 ? "Usage:" : "      "} metier ${line}`),
    "",
    ...paragraphs(description),
    ...section("Actions:", actions === undefined ? [] : Object.entries(actions)),
    ...section("Arguments:", actions === undefined ? argumentRows(positional) : []),
    ...section("Options:", options),
    "",
    ...wrap(`Common options: ${common.join(", ")}. Run \`metier --help\` to see what they do.`, WIDTH),
    "",
    "Examples:",
    ...examples.flatMap((line) => breakExample(line)),
    "",
  ].join("\n");
}

/** The page of a command that only groups others, such as `metier skill manage`. */
export function holderText(name: string, brief: string, commands: readonly DeclaredCommand[]): string {
  const rows = commands.map((command) => [command.name, command.brief] as const);
  return [
    brief,
    "",
    `Usage: metier ${name} <command> [options]`,
    ...section("Commands:", rows),
    "",
    ...wrap(`Run \`metier ${name} <command> --help\` for its options and examples.`, WIDTH),
    "",
  ].join("\n");
}

function alsoText(also: readonly string[]): string {
  return also.length === 0 ? "" : ` (also: ${also.join(", ")})`;
}

/** The words that may follow the command: `["list", "show <id>"]`, or `["<skill> [<file>]"]`. */
export function wordForms({ usage, actions, positional }: DeclaredCommand): readonly string[] {
  return actions === undefined ? (usage ?? [positionalText(positional)]) : Object.keys(actions);
}

/** What follows `metier` on a command line: `runs [<action>] [options]`. */
export function usageLines({ name, usage, actions, positional }: DeclaredCommand): readonly string[] {
  const plain = actions === undefined ? positionalText(positional) : "[<action>]";
  return (usage ?? [plain]).map((form) => [name, form, "[options]"].filter((part) => part !== "").join(" "));
}

function positionalText(positional: Positional | undefined): string {
  if (positional?.kind === "array") {
    const each = `<${positional.parameter?.placeholder}>...`;
    return (positional.minimum ?? 0) > 0 ? each : `[${each}]`;
  }
  const one = ({ placeholder, optional }: NonNullable<Positional["parameter"]>): string =>
    optional ? `[<${placeholder}>]` : `<${placeholder}>`;
  return (positional?.parameters ?? []).map(one).join(" ");
}

type Row = readonly [label: string, text: string];

function argumentRows(positional: Positional | undefined): readonly Row[] {
  const all = positional?.parameter ? [positional.parameter] : (positional?.parameters ?? []);
  return all.map(({ placeholder, brief }) => [`<${placeholder}>`, brief]);
}

/** `["-n, --number <count>", "Show at most this many"]` for each option. */
export function optionRows(
  flags: Readonly<Record<string, Flag>>,
  letters: Readonly<Record<string, string>>,
): readonly Row[] {
  const letterOf = new Map(Object.entries(letters).map(([letter, name]) => [name, letter]));
  const indent = letterOf.size > 0 ? "    " : "";
  return Object.entries(flags).map(([name, flag]) => {
    const letter = letterOf.get(name);
    return [`${letter ? `-${letter}, ` : indent}${optionLabel(name, flag)}`, optionText(flag)];
  });
}

function optionLabel(name: string, flag: Flag): string {
  const kebab = toKebabCase(name);
  if (flag.kind === "boolean") return "default" in flag ? `--${kebab}` : `--[no-]${kebab}`;
  return `--${kebab} <${flag.kind === "enum" ? (kebab.split("-").at(-1) ?? kebab) : flag.placeholder}>`;
}

function optionText(flag: Flag): string {
  if (flag.kind !== "enum") return flag.brief;
  const usual = "default" in flag ? `; default: ${flag.default}` : "";
  return `${flag.brief} (${flag.values.join(", ")}${usual})`;
}

function section(title: string, rows: readonly Row[]): readonly string[] {
  return rows.length === 0 ? [] : ["", title, columns(rows)];
}

function columns(rows: readonly Row[], least = 0): string {
  const fitting = rows.map(([label]) => label.length).filter((length) => length <= LABEL_WIDTH);
  const width = Math.max(least, ...fitting);
  const gap = " ".repeat(width + 4);
  return rows
    .flatMap(([label, text]) => {
      const lines = wrap(text, WIDTH - gap.length);
      if (label.length > width) return [`  ${label}`, ...lines.map((line) => gap + line)];
      return lines.map((line, index) => (index === 0 ? `  ${label.padEnd(width)}  ${line}` : gap + line));
    })
    .join("\n");
}

function paragraphs(text: string): readonly string[] {
  return text.split(/\n{2,}/).flatMap((part, index) => [...(index === 0 ? [] : [""]), ...wrap(part, WIDTH)]);
}

/** Lines of at most `width` characters; short quoted commands stay whole. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.match(/\(also: [^)]*\)|[("]*`[^`\n]{1,40}`\S*|\S+/g) ?? []) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}

/** Breaks a long example with a backslash, so that a shell still reads one line; an option keeps its value. */
function breakExample(example: string): readonly string[] {
  const words = example.match(/(?:--[\w-]+ (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines: string[] = [];
  let line = " ";
  for (const word of words) {
    if (line.trim() !== "" && line.length + 1 + word.length > WIDTH - 2) {
      lines.push(`${line} \\`);
      line = "     ";
    }
    line = `${line} ${word}`;
  }
  return [...lines, line];
}

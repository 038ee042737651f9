/** The man page `metier.1`, made from the command declarations; `npm run docs:sync` writes it. */
import { EXIT } from "@metier/base/errors";
import { VERSION } from "@metier/base/places";
import { COMMON_FLAGS, type DeclaredCommand } from "../commands/define.ts";
import { GROUPS } from "../commands/groups.ts";
import { optionRows, usageLines } from "./help-text.ts";

const EXIT_WORDS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "Done.",
  no: "Nothing found, something invalid, or a check failed.",
  usage: "The command line or a config file is wrong.",
  refused: "Refused: not trusted, not allowed, or someone must look first.",
  limited: "A limit stopped it.",
  failed: "It failed.",
  prerequisite: "Something is missing: a model, a program, a newer Node.",
  cancelled: "You cancelled it.",
};

export function manPage(): string {
  const groups = Object.entries(GROUPS).flatMap(([group, commands]) => [
    `.SS ${toRoff(group)}`,
    ...commands.map(({ name, brief, also }) => {
      const others = also.length > 0 ? ` (also: ${also.join(", ")})` : "";
      return tagged(name, brief + others);
    }),
  ]);
  return [
    '.\\" Written by `npm run docs:sync`; edit the declarations in packages/cli/src/commands.',
    `.TH METIER 1 "" "metier ${VERSION}" "User Commands"`,
    ".SH NAME",
    "metier \\- the runtime for Agent Skills",
    ".SH SYNOPSIS",
    ".B metier",
    "\\fIcommand\\fR [\\fIoptions\\fR]",
    ".SH COMMANDS",
    ...groups,
    ".SH COMMON OPTIONS",
    ...optionRows(COMMON_FLAGS, {}).map(([label, text]) => tagged(label, text)),
    tagged("--help", "Show help for a command."),
    ...Object.values(GROUPS).flat().flatMap(commandPart),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT).map(([name, code]) => tagged(String(code), wordsFor(name))),
    ".SH FILES",
    tagged("~/.metier/config.toml", "Your config; `metier config path` lists every file that is read."),
    tagged(".metier/config.toml", "A project's config."),
    ".SH ENVIRONMENT",
    tagged("METIER_HOME", "Used instead of your home folder, as with --home."),
    tagged("VISUAL, EDITOR", "The editor that `metier config edit` starts."),
    tagged("NO_COLOR", "Print without colors."),
    "",
  ].join("\n");
}

function wordsFor(name: string): string {
  return EXIT_WORDS[name as keyof typeof EXIT];
}

function commandPart(command: DeclaredCommand): readonly string[] {
  const { name, description, actions = {}, flags, letters, examples } = command;
  const paragraphs = description.split(/\n{2,}/).flatMap((part) => [".PP", toRoff(part)]);
  const options = optionRows(flags, letters).map(([label, text]) => tagged(label.trim(), text));
  return [
    `.SH METIER ${toRoff(name.toUpperCase())}`,
    ".nf",
    ...usageLines(command).map((line) => `\\fBmetier ${toRoff(line)}\\fR`),
    ".fi",
    ...paragraphs,
    ...Object.entries(actions).map(([form, about]) => tagged(form, about)),
    ...(options.length > 0 ? [".PP", "Options:", ...options] : []),
    ".PP",
    "Examples:",
    ".PP",
    ".nf",
    ".RS",
    ...examples.map(toRoff),
    ".RE",
    ".fi",
  ];
}

function tagged(label: string, text: string): string {
  return `.TP\n\\fB${toRoff(label)}\\fR\n${toRoff(text)}`;
}

/** A line that starts with a dot or a quote would be a formatter request. */
function toRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replace(
      /[^\x00-\x7f]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/\s*\n\s*/g, " ")
    .replace(/^\./, "\\&.");
}

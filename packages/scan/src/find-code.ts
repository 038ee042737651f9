/**
 * Finds a skill's code: scripts, code blocks and spans in documents, dynamic commands, hooks, package scripts, and
 * commands in data that another program runs.
 */
import type { Json } from "@metier/base/json";
import { findCommands, type ParsedSkill, type SkillManifest } from "@metier/skills";
import type { Pair, Scalar, YAMLSeq } from "yaml";
import { type CodeLanguage, type CodePart, createLineFinder, type PartKind } from "./code/code-part.ts";
import { languageOfTag } from "./file-types.ts";
import type { CodeBlock, CodeSpan, MarkdownParts } from "./markdown.ts";
import { isWarning } from "./rules/find-hits.ts";
import type { ScanLimits, ScannedDocument, ScannedFile, ScannedSkill, SkippedPart } from "./scanned-skill.ts";

/** Programs that are worth checking anywhere, even if nothing marks them as code. */
const TELLING =
  /(?:^|[\s|;&(`$])(?:curl|wget|bash|sh|zsh|eval|base64|xxd|nc|ncat|socat|rm|dd|mkfs\S*|chmod|crontab|python3?|node|powershell|pwsh|iex|iwr|npx|uvx|pip3?|security|osascript|scp|rsync|dig|nslookup|cat|env|printenv|tar|xattr|spctl|unzip|7z|history|git)\s/;

interface FoundCode {
  readonly parts: readonly CodePart[];
  readonly skipped: readonly SkippedPart[];
}

type Searched = Pick<ScannedSkill, "files" | "documents" | "parsed" | "manifest" | "skillFile">;

export async function findCode(skill: Searched, limits: ScanLimits): Promise<FoundCode> {
  const { files, documents, parsed, manifest, skillFile } = skill;
  const skipped: SkippedPart[] = [];
  const bound = (parts: readonly CodePart[], path: string): readonly CodePart[] => {
    if (parts.length > limits.pieces)
      skipped.push({ path, reason: `Not analyzed: more than ${limits.pieces} pieces of code.` });
    return parts.slice(0, limits.pieces);
  };
  const parts = [
    ...files.flatMap(scriptParts),
    ...documents.flatMap((document) => bound(documentParts(document), document.file.path)),
    ...(manifest && parsed ? hookParts(manifest, parsed, skillFile) : []),
  ];
  for (const { path, text } of files) {
    if (text === undefined || !DATA.test(path) || NO_DATA.test(path) || !TELLING_DATA.test(text)) continue;
    const reason = `Not analyzed: it has ${text.length} characters; at most ${limits.codeCharacters} are read as data.`;
    if (text.length > limits.codeCharacters) skipped.push({ path, reason });
    else parts.push(...bound(await readCommands(path, text), path));
  }
  return { parts, skipped };
}

function makePart(
  path: string,
  language: CodeLanguage,
  kind: PartKind,
  text: string,
  firstLine: number,
  isWarned = false,
): CodePart {
  return { path, language, kind, text, firstLine, isWarning: isWarned };
}

function scriptParts(file: ScannedFile): readonly CodePart[] {
  const { path, text, language } = file;
  if (text === undefined) return [];
  if (language !== undefined) return [makePart(path, language, "script", text, 1)];
  const name = path.split("/").at(-1) ?? "";
  if (name === "package.json") return packageScripts(path, text);
  if (/^(?:Makefile|makefile|GNUmakefile)$|\.mk$/.test(name))
    return [makePart(path, "shell", "script", recipesOf(text), 1)];
  if (/^(?:Dockerfile|Containerfile)/.test(name))
    return [makePart(path, "shell", "script", dockerCommands(text), 1)];
  return [];
}

/** npm runs these scripts automatically when a package is installed. */
function packageScripts(path: string, text: string): readonly CodePart[] {
  let scripts: unknown;
  try {
    scripts = (JSON.parse(text) as { readonly scripts?: unknown } | null)?.scripts;
  } catch {
    return []; // npm would not read such a package file either.
  }
  if (typeof scripts !== "object" || scripts === null) return [];
  return Object.entries(scripts).flatMap(([name, command]) => {
    if (typeof command !== "string") return [];
    const at = text.indexOf(JSON.stringify(name));
    const line = at === -1 ? 1 : text.slice(0, at).split("\n").length;
    return [makePart(path, "shell", "script", command, line)];
  });
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split("\n").map(change).join("\n");
}

/** Lines that start with a tab; the others become blank, so that lines keep their numbers. */
function recipesOf(text: string): string {
  return mapLines(text, (line) => {
    const [, recipe = ""] = /^\t[@-]*(.*)$/s.exec(line) ?? [];
    return recipe.replaceAll("$$", "$");
  });
}

function dockerCommands(text: string): string {
  let continues = false;
  return mapLines(text, (line) => {
    const isRun = /^\s*RUN\s/i.test(line);
    const kept = isRun || continues ? line.replace(/^\s*RUN\s+/i, "") : "";
    continues = (isRun || continues) && line.trimEnd().endsWith("\\");
    return kept;
  });
}

function documentParts({ file, parts }: ScannedDocument): readonly CodePart[] {
  const { path, text } = file;
  return [
    ...parts.blocks.flatMap((block) => blockParts(path, block)),
    ...parts.spans
      .filter((span) => TELLING.test(` ${span.text} `) && !/^!/.test(span.text))
      .map((span) => spanPart(path, span)),
    ...proseCommands(path, parts),
    ...dynamicParts(path, text),
  ];
}

function spanPart(path: string, { text, line, around }: CodeSpan): CodePart {
  const isToBeRun = /\b(?:run|running|runs|execute|executing|using|use|with|invoke|call)\b/i.test(around);
  const part = makePart(path, "shell", "span", blankPlaceholders(text), line, isWarning(around));
  return { ...part, isToBeRun };
}

const PROSE_COMMAND =
  /^\s*(?:[$>%]\s+|\d+[.)]\s+|[-*]\s+)?(?:run:?\s+|execute:?\s+)?((?:sudo\s+)?(?:curl|wget|bash|sh|echo|cat|env|printenv|python3?|powershell|iex|eval|rm)\s+[^.]*?[|>/$(].*)$/i;
/** Its programs, anywhere: most documents name none. */
const PROSE_PROGRAM = /\b(?:curl|wget|bash|sh|echo|cat|env|printenv|python3?|powershell|iex|eval|rm)\s/i;

/** A line of a document that is a command without markup. */
function proseCommands(path: string, { prose, whole }: MarkdownParts): readonly CodePart[] {
  if (!PROSE_PROGRAM.test(whole)) return [];
  return prose.flatMap((line, index) => {
    const [, command = ""] = PROSE_COMMAND.exec(line) ?? [];
    return command === ""
      ? []
      : [makePart(path, "shell", "span", blankPlaceholders(command), index + 1, isWarning(line))];
  });
}

function blockParts(path: string, { tag, text, firstLine, lead }: CodeBlock): readonly CodePart[] {
  const isWarned = isWarning(lead);
  const language = languageOfTag(tag);
  if (language === "shell") return shellBlocks(path, text, firstLine, isWarned);
  if (language !== undefined) return [makePart(path, language, "block", text, firstLine, isWarned)];
  if (tag === "!") return [];
  const isPlain = /^(?:|text|txt|plain|plaintext|none|output|log|markdown|md)$/.test(tag);
  return isPlain && TELLING.test(text) ? shellBlocks(path, commandLines(text), firstLine, isWarned) : [];
}

/** From a text that may be anything, only what looks like commands. */
function commandLines(text: string): string {
  return mapLines(text, (line) => (TELLING.test(` ${line}`) && !/^\s*[│├└|]|:\s*$/.test(line) ? line : ""));
}

/** Removes prompts; in a session with prompts, lines without one are output. */
function shellBlocks(path: string, text: string, firstLine: number, isWarned: boolean): readonly CodePart[] {
  const lines = text.split("\n");
  const hasPrompts = lines.some((line) => /^\s*\$ /.test(line));
  let continues = false;
  const commands = lines.map((line) => {
    const isCommand = !hasPrompts || /^\s*[$>] /.test(line) || continues;
    continues = isCommand && line.trimEnd().endsWith("\\");
    return isCommand ? line.replace(/^(\s*)[$>] /, "$1  ") : "";
  });
  return [makePart(path, "shell", "block", blankPlaceholders(commands.join("\n")), firstLine, isWarned)];
}

/** `<your-token>` in an example is a word, not a redirection. */
function blankPlaceholders(text: string): string {
  return text.replace(/<(?=[A-Za-z])[\w .:/-]{1,60}>/g, (placeholder) => "X".repeat(placeholder.length));
}

/** They run before the text is shown. */
function dynamicParts(path: string, text: string): readonly CodePart[] {
  let line = 1;
  return findCommands(text).flatMap((piece) => {
    const start = line;
    line += piece.text.split("\n").length - 1;
    return piece.kind === "command" ? [makePart(path, "shell", "dynamic", piece.command, start)] : [];
  });
}

/** Every command under `hooks`, for any event: other clients know more events than Metier runs. */
function hookParts(manifest: SkillManifest, parsed: ParsedSkill, path: string): readonly CodePart[] {
  const commands = commandsIn(manifest.hooks ?? null);
  if (commands.length === 0) return [];
  const line = parsed.position("hooks")?.line ?? 1;
  return commands.map((command) => makePart(path, "shell", "hook", command, line));
}

function commandsIn(value: Json): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Readonly<Record<string, Json>>).flatMap(([key, item]) => {
    const words = Array.isArray(item) ? item : [item];
    const isCommand = key === "command" && words.every((word) => typeof word === "string");
    if (!isCommand) return commandsIn(item);
    return [typeof item === "string" ? item : words.map(quote).join(" ")];
  });
}

const DATA = /\.(?:ya?ml|json|jsonc|json5)$/i;
/** npm's own file has its own rules, and its lock contains no commands. */
const NO_DATA = /(?:^|\/)(?:package|package-lock|composer|tsconfig[\w.-]*)\.json$|-lock\.ya?ml$/i;

/** Keys whose value some program runs. */
const COMMAND_KEY =
  /^(?:run|scripts?|cmd|commands?|shell|exec|entrypoint|(?:before|after|pre|post)[_-]?\w*|install|hook)$/i;
/** For these, a list is one command, word by word. */
const WORDS_KEY = /^(?:cmd|command|exec|entrypoint)$/i;
/** Without one of these words there is nothing to follow. */
const TELLING_DATA =
  /\b(?:curl|wget|bash|sh|zsh|eval|base64|xxd|nc|ncat|socat|rm|dd|mkfs|chmod|crontab|python3?|node|powershell|pwsh|npx|uvx|pip3?|perl|ruby|php|security|osascript|scp|cat|env|printenv)\b/;

async function readCommands(path: string, text: string): Promise<readonly CodePart[]> {
  const { parseAllDocuments, visit } = await import("yaml");
  const lineOf = createLineFinder(text, 1);
  const commands: Command[] = [];
  try {
    // The package returns an empty list of another type if there is no document.
    for (const document of [...parseAllDocuments(text, { logLevel: "silent", uniqueKeys: false })])
      visit(document, { Pair: (_, pair) => void commands.push(...commandsOf(pair)) });
  } catch {
    return []; // The parser recurses, and no program reads data nested beyond the stack either.
  }
  return commands
    .map(({ text: command, at, isBlock }) => {
      const firstLine = lineOf(at).line + (isBlock ? 1 : 0); // A block starts on the line after its marker.
      return makePart(path, "shell", "script", blankExpressions(command), firstLine);
    })
    .filter((part) => TELLING_DATA.test(part.text));
}

interface Command {
  readonly text: string;
  /** Where it starts in the file. */
  readonly at: number;
  readonly isBlock: boolean;
}

function commandsOf({ key, value }: Pair): readonly Command[] {
  const name = String((key as Scalar | null)?.value ?? "");
  if (!COMMAND_KEY.test(name)) return [];
  const list = (value as YAMLSeq | null)?.items;
  const texts = (Array.isArray(list) ? list : [value]).filter(isText);
  if (!Array.isArray(list) || !WORDS_KEY.test(name)) return texts.map(toCommand);
  const [first] = texts;
  const words = texts.map((node) => quote(node.value)).join(" ");
  return first ? [{ ...toCommand(first), text: words, isBlock: false }] : [];
}

function isText(node: unknown): node is Scalar<string> {
  return typeof (node as Scalar | null)?.value === "string";
}

function toCommand({ value, range, type }: Scalar<string>): Command {
  return { text: value, at: range?.[0] ?? 0, isBlock: type?.startsWith("BLOCK_") ?? false };
}

/** `${{ … }}` is replaced before a shell sees it. */
function blankExpressions(command: string): string {
  return command.replace(/\$\{\{[^}]*\}\}/g, (expression) => "X".repeat(expression.length));
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

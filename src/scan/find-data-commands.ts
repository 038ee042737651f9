/**
 * Commands in files of data: `run: …` of a workflow, `command` of a hook, `script` of a pipeline. YAML and JSON are read by
 * one grammar, and only where a command can be in them at all.
 */
import type { Pair, Scalar, YAMLSeq } from "yaml";
import type { CodePart } from "./code/code-part.ts";
import { createLineFinder } from "./line-finder.ts";
import type { ScanLimits, SkippedPart } from "./scan-limits.ts";
import type { ScannedFile } from "./scanned-skill.ts";

const DATA = /\.(?:ya?ml|json|jsonc|json5)$/i;
/** npm's own file has rules of its own, and what is locked there are no commands. */
const NO_DATA = /(?:^|\/)(?:package|package-lock|composer|tsconfig[\w.-]*)\.json$|-lock\.ya?ml$/i;

/** Keys whose value some program runs. */
const COMMAND_KEY =
  /^(?:run|scripts?|cmd|commands?|shell|exec|entrypoint|(?:before|after|pre|post)[_-]?\w*|install|hook)$/i;
/** Of these a list is one command, word by word. */
const WORDS_KEY = /^(?:cmd|command|exec|entrypoint)$/i;
/** Without one of these words there is nothing to follow. */
const TELLING =
  /\b(?:curl|wget|bash|sh|zsh|eval|base64|xxd|nc|ncat|socat|rm|dd|mkfs|chmod|crontab|python3?|node|powershell|pwsh|npx|uvx|pip3?|perl|ruby|php|security|osascript|scp|cat|env|printenv)\b/;

export interface DataCommands {
  readonly parts: readonly CodePart[];
  readonly skipped: readonly SkippedPart[];
}

export async function findDataCommands(
  files: readonly ScannedFile[],
  { codeCharacters, pieces }: ScanLimits,
): Promise<DataCommands> {
  const parts: CodePart[] = [];
  const skipped: SkippedPart[] = [];
  for (const { path, text } of files) {
    if (text === undefined || !DATA.test(path) || NO_DATA.test(path) || !TELLING.test(text)) continue;
    if (text.length > codeCharacters) {
      skipped.push({
        path,
        reason: `Not followed: it has ${text.length} characters; at most ${codeCharacters} are read as data.`,
      });
      continue;
    }
    const found = await readCommands(path, text);
    if (found.length > pieces)
      skipped.push({ path, reason: `Not followed: more than ${pieces} pieces of code.` });
    parts.push(...found.slice(0, pieces));
  }
  return { parts, skipped };
}

async function readCommands(path: string, text: string): Promise<readonly CodePart[]> {
  const { parseAllDocuments, visit } = await import("yaml");
  const lineOf = createLineFinder(text, 1);
  const commands: Command[] = [];
  try {
    // The package answers with an empty list of another kind where there is no document.
    for (const document of [...parseAllDocuments(text, { logLevel: "silent", uniqueKeys: false })])
      visit(document, { Pair: (_, pair) => void commands.push(...commandsOf(pair)) });
  } catch {
    return []; // The parser recurses, and nesting beyond the stack is no data that a program would read either.
  }
  return commands
    .map(({ text: command, at, isBlock }) => ({
      path,
      language: "shell" as const,
      kind: "script" as const,
      text: blankExpressions(command),
      // A block begins on the line after its mark.
      firstLine: lineOf(at).line + (isBlock ? 1 : 0),
      isWarning: false,
    }))
    .filter((part) => TELLING.test(part.text));
}

interface Command {
  readonly text: string;
  /** Where it begins in the file. */
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

/** `${{ … }}` is put in before a shell sees it. */
function blankExpressions(command: string): string {
  return command.replace(/\$\{\{[^}]*\}\}/g, (expression) => "X".repeat(expression.length));
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

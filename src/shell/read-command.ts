/**
 * Parses a shell command and takes it apart into its simple commands, or says why nothing about it can be proven.
 * The parser forgives, so nothing is taken from it on trust: only the node types below are known, every word is read a
 * second time (`literal-word.ts`) and every character of the text must be accounted for (`account-for-text.ts`).
 */
import type { AndOr, Command, CompoundList, Elif, PipelineNode, Redirection, Word } from "unbash";
import { accountForText, type Signs, type Span } from "./account-for-text.ts";
import { checkCommandText } from "./command-text.ts";
import { readLiteralWord } from "./literal-word.ts";
import { type CommandWords, type ParsedCommand, unprovable } from "./parsed-command.ts";
import { checkRedirection, type RedirectedFiles } from "./redirections.ts";

/** A cause why nothing is proven; `undefined` while all is well. */
type Doubt = string | undefined;

interface Reading extends RedirectedFiles, Signs {
  readonly text: string;
  readonly commands: CommandWords[];
  readonly spans: Span[];
}

/** Builtins that are no programs: alone they still need a shell, which can do no harm with literal words. */
const ONLY_IN_SHELLS: ReadonlySet<string> = new Set(["cd", ":", "exit", "type"]);

const UNKNOWN_FORMS: Readonly<Record<string, string>> = {
  For: "a `for` loop sets a variable",
  ArithmeticFor: "a `for` loop evaluates arithmetic",
  Select: "`select` sets a variable",
  Case: "`case` matches patterns",
  Function: "it defines a function",
  Coproc: "`coproc` sets variables",
  TestCommand: "`[[ … ]]` may evaluate what it compares",
  ArithmeticCommand: "`(( … ))` evaluates arithmetic",
};

export async function readCommand(text: string): Promise<ParsedCommand> {
  const fault = checkCommandText(text);
  if (fault !== undefined) return unprovable(fault);
  const { parse } = await import("unbash");
  const script = parse(text);
  const error = script.errors?.[0];
  if (error !== undefined) return unprovable(`it cannot be parsed: ${error.message}`);
  const reading: Reading = {
    text,
    ...{ commands: [], spans: [], writes: [], reads: [] },
    ...{ heredocs: 0, subshells: 0, groups: 0, negations: 0 },
  };
  const doubt = readList(script.commands, reading) ?? accountForText(text, reading.spans, reading);
  if (doubt !== undefined) return unprovable(doubt);
  const [first] = reading.commands;
  if (first === undefined) return unprovable("there is no command in it");
  const { commands, writes, reads } = reading;
  if (commands.some(([program]) => program === "cd") && [...writes, ...reads].some(isRelative)) {
    return unprovable("a redirection to a relative path stands beside `cd`");
  }
  return { provable: true, commands, writes, reads, ...(isBare(text, reading) ? { argv: first } : {}) };
}

function isRelative(path: string): boolean {
  return !path.startsWith("/");
}

/** One command, nothing around it and no redirection in it. */
function isBare(text: string, { commands, spans }: Reading): boolean {
  const [span] = spans;
  const program = commands[0]?.[0] ?? "";
  if (commands.length !== 1 || spans.length !== 1 || span === undefined || ONLY_IN_SHELLS.has(program)) {
    return false;
  }
  const around = text.slice(0, span.start) + text.slice(span.end);
  return span.isPlain && /^(?:[\s;]|#[^\n]*(?:\n|$))*$/.test(around);
}

function readList(list: CompoundList["commands"], reading: Reading): Doubt {
  return firstDoubt(list, (statement) => readNode(statement.command, reading));
}

function readNode(node: PipelineNode | AndOr, reading: Reading): Doubt {
  switch (node.type) {
    case "Command":
      return readSimple(node, reading);
    case "Pipeline":
      if (node.prefixes.some((prefix) => prefix.type === "Time")) return "`time` starts other programs";
      if (node.commands.length === 0) return "a `!` stands for itself";
      reading.negations += node.prefixes.length;
      return firstDoubt(node.commands, (command) => readNode(command, reading));
    case "AndOr":
      return firstDoubt(node.commands, (command) => readNode(command, reading));
    case "Redirected":
      return readNode(node.command, reading) ?? readRedirections(node.redirects, reading);
    case "Subshell":
    case "BraceGroup":
      if (node.type === "Subshell") reading.subshells++;
      else reading.groups++;
      return readList(node.body.commands, reading);
    case "If":
      return (
        readBranch(node, reading) ??
        firstDoubt(node.elif, (branch) => readBranch(branch, reading)) ??
        readList(node.else?.commands ?? [], reading)
      );
    case "While":
      return readList(node.clause.commands, reading) ?? readList(node.body.commands, reading);
    default:
      return UNKNOWN_FORMS[node.type] ?? `it has a form that is not known here: ${node.type}`;
  }
}

function readBranch(branch: Pick<Elif, "clause" | "then">, reading: Reading): Doubt {
  return readList(branch.clause.commands, reading) ?? readList(branch.then.commands, reading);
}

/** Words and redirections, with nothing but blanks between them. */
function readSimple(node: Command, reading: Reading): Doubt {
  if (node.name === undefined) return "a part of it only assigns or redirects";
  const words: string[] = [];
  let end = node.pos;
  let isPlain = true;
  for (const element of [...node.prefix, node.name, ...node.suffix]) {
    if (element.type === "Assignment") return `\`${element.text}\` assigns a variable`;
    const gap = reading.text.slice(end, element.pos);
    const isWord = element.type === "Word";
    if (!isGap(gap, { isFirst: end === node.pos, isWord, before: words.at(-1) ?? "" })) {
      return "its words are not clearly apart";
    }
    isPlain &&= isWord;
    const doubt = isWord ? readWord(element, reading, words) : checkRedirection(element, reading);
    if (doubt !== undefined) return doubt;
    end = element.end;
  }
  reading.commands.push(words);
  reading.spans.push({ start: node.pos, end, isPlain });
  return undefined;
}

/** Blanks and continued lines. A redirection may follow a word at once, unless the word would become its descriptor. */
function isGap(
  gap: string,
  place: { readonly isFirst: boolean; readonly isWord: boolean; readonly before: string },
): boolean {
  if (gap === "") return place.isFirst || (!place.isWord && !/^[0-9]*$|\}$/.test(place.before));
  return /^(?:[ \t]|\\\n)+$/.test(gap);
}

function readWord(word: Word, { text }: Reading, words: string[]): Doubt {
  const reading = readLiteralWord(word.text);
  if (!reading.ok) return reading.reason;
  const isAgreed = reading.value === word.value && text.slice(word.pos, word.end) === word.text;
  if (!isAgreed) return `\`${word.text}\` can be read in two ways`;
  words.push(reading.value);
  return undefined;
}

/** Those behind a group, a subshell or a loop. */
function readRedirections(redirections: readonly Redirection[], reading: Reading): Doubt {
  return firstDoubt(redirections, (redirection) => {
    reading.spans.push({ start: redirection.pos, end: redirection.end, isPlain: false });
    return checkRedirection(redirection, reading);
  });
}

function firstDoubt<T>(items: readonly T[], read: (item: T) => Doubt): Doubt {
  for (const item of items) {
    const doubt = read(item);
    if (doubt !== undefined) return doubt;
  }
  return undefined;
}

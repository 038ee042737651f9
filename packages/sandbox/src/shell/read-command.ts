/**
 * Parses a shell command into its simple commands, or says why nothing about it can be proven. The parser is lenient,
 * so nothing is taken on trust: only the node types below are accepted, every word is read a second time, and every
 * character of the text must be accounted for (`command-text.ts`).
 */
import type {
  AndOr,
  Command,
  CompoundList,
  Elif,
  HereDoc,
  PipelineNode,
  Redirect,
  Redirection,
  Word,
} from "unbash";
import { accountForText, checkCommandText, readLiteralWord, type Signs, type Span } from "./command-text.ts";

/** One program with its words, quotes removed; the first word is the program. */
export type CommandWords = readonly string[];

interface ProvableCommand {
  readonly provable: true;
  /** Every simple command of the text, in order; at least one. */
  readonly commands: readonly CommandWords[];
  /** Literal targets of output redirections, without `/dev/null` and descriptors. */
  readonly writes: readonly string[];
  /** Literal sources of input redirections. */
  readonly reads: readonly string[];
  /** The text is only this one command, so it can be executed without a shell. */
  readonly argv?: CommandWords | undefined;
}

interface UnprovableCommand {
  readonly provable: false;
  /** Starts in lowercase, without a period. */
  readonly reason: string;
}

type ParsedCommand = ProvableCommand | UnprovableCommand;

/** Why nothing is proven; `undefined` so far. */
type Doubt = string | undefined;

interface Reading extends Signs {
  readonly text: string;
  readonly commands: CommandWords[];
  readonly spans: Span[];
  readonly writes: string[];
  readonly reads: string[];
  heredocs: number;
}

/** Builtins that are not programs: alone they still need a shell, which is harmless with literal words. */
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
  if (first === undefined) return unprovable("it contains no command");
  const { commands, writes, reads } = reading;
  const isRelative = (path: string): boolean => !path.startsWith("/");
  if (commands.some(([program]) => program === "cd") && [...writes, ...reads].some(isRelative)) {
    return unprovable("a redirection to a relative path is combined with `cd`");
  }
  return { provable: true, commands, writes, reads, argv: isBare(text, reading) ? first : undefined };
}

function unprovable(reason: string): UnprovableCommand {
  return { provable: false, reason };
}

/** One command with nothing around it and no redirection. */
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
      if (node.commands.length === 0) return "a `!` is on its own";
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
      return UNKNOWN_FORMS[node.type] ?? `it has an unknown form: ${node.type}`;
  }
}

function readBranch(branch: Pick<Elif, "clause" | "then">, reading: Reading): Doubt {
  return readList(branch.clause.commands, reading) ?? readList(branch.then.commands, reading);
}

/** Words and redirections, with only spaces between them. */
function readSimple(node: Command, reading: Reading): Doubt {
  if (node.name === undefined) return "part of it only assigns or redirects";
  const words: string[] = [];
  let end = node.pos;
  let isPlain = true;
  for (const element of [...node.prefix, node.name, ...node.suffix]) {
    if (element.type === "Assignment") return `\`${element.text}\` assigns a variable`;
    const gap = reading.text.slice(end, element.pos);
    const isWord = element.type === "Word";
    if (!isGap(gap, { isFirst: end === node.pos, isWord, before: words.at(-1) ?? "" })) {
      return "its words are not clearly separated";
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

/**
 * Spaces and continued lines. A redirection may directly follow a word, unless the word would become its descriptor.
 */
function isGap(
  gap: string,
  place: { readonly isFirst: boolean; readonly isWord: boolean; readonly before: string },
): boolean {
  if (gap === "") return place.isFirst || (!place.isWord && !/^[0-9]*$|\}$/.test(place.before));
  return /^(?:[ \t]|\\\n)+$/.test(gap);
}

function readWord(word: Word, { text }: Reading, words: string[]): Doubt {
  const reading = readLiteralWord(word.text);
  if (!reading.ok) return reading.refusal;
  const isAgreed = reading.value === word.value && text.slice(word.pos, word.end) === word.text;
  if (!isAgreed) return `\`${word.text}\` is ambiguous`;
  words.push(reading.value);
  return undefined;
}

/** Those after a group, a subshell or a loop. */
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

/* Redirections with literal targets: which files they write and read. */

/** Not a file: nothing is stored there, or it is an open descriptor. */
const NO_FILES: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"]);
/** Bash opens a connection for these. */
const CONNECTION = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Why it cannot be proven; `undefined` if it can, with its files added to `found`. */
function checkRedirection(redirection: Redirection, found: Reading): Doubt {
  if (redirection.descriptor?.type === "FileDescriptorVariable") return "a redirection sets a variable";
  if (redirection.type === "HereDoc") return checkHereDocument(redirection, found);
  const { operator, target } = redirection;
  if (target === undefined) return "a redirection has no target";
  const reading = readLiteralWord(target.text);
  if (!reading.ok) return reading.refusal;
  const begin = found.text.slice(redirection.pos, target.pos);
  const isAgreed =
    reading.value === target.value &&
    begin.trimEnd() === `${redirection.descriptor?.value ?? ""}${operator}` &&
    target.end === redirection.end &&
    // Digits right before `<` or `>` are the descriptor of the next redirection.
    !(/^[0-9]+$/.test(target.text) && /^[<>]/.test(found.text.slice(target.end)));
  if (!isAgreed) return "a redirection is ambiguous";
  return redirection.type === "HereString" ? undefined : noteFile(redirection, reading.value, found);
}

function noteFile({ operator, descriptor }: Redirect, target: string, found: Reading): Doubt {
  const duplicates = operator === ">&" || operator === "<&";
  if (duplicates && /^(?:[0-9]+-?|-)$/.test(target)) return undefined;
  if (operator === "<&" || (operator === ">&" && descriptor !== undefined)) {
    return `\`${operator}${target}\` is not a descriptor`;
  }
  if (target === "") return "a redirection has an empty target";
  if (CONNECTION.test(target)) return `\`${target}\` opens a network connection`;
  if (NO_FILES.has(target)) return undefined;
  if (operator === "<" || operator === "<>") found.reads.push(target);
  if (operator !== "<") found.writes.push(target);
  return undefined;
}

/**
 * Only if nothing in it is expanded. One is enough for a message on standard input, and its end can then be found
 * without the parser too.
 */
function checkHereDocument(document: HereDoc, found: Reading): Doubt {
  const { delimiter, body, closing } = document;
  if (++found.heredocs > 1) return "it has more than one here-document";
  if (delimiter === undefined || closing === undefined) return "a here-document is not closed";
  const { text } = found;
  const [, word] = /^(['"]?)(\w+)\1$/.exec(delimiter.text)?.slice(1) ?? [];
  const lineEnd = text.indexOf("\n", document.end);
  if (word === undefined || lineEnd === -1 || /['"\\#]/.test(text.slice(document.end, lineEnd))) {
    return "the start of a here-document is ambiguous";
  }
  const isQuoted = delimiter.text !== word;
  if (!isQuoted && /[$`\\]/.test(body.text)) return "the shell expands a here-document; quote its delimiter";
  const lines = text.slice(lineEnd + 1).split("\n");
  const strip = (line: string): string => (document.operator === "<<-" ? line.replace(/^\t+/, "") : line);
  const last = lines.findIndex((line) => strip(line) === word);
  const start = lineEnd + 1;
  const end = start + lines.slice(0, last + 1).join("\n").length;
  if (last === -1 || closing.end !== end || body.pos !== start) {
    return "the end of a here-document is ambiguous";
  }
  found.spans.push({ start, end, isPlain: false });
  return undefined;
}

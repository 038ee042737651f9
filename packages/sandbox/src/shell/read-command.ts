/**
 * Parses a shell command and takes it apart into its simple commands, or says why nothing about it can be proven.
 * The parser forgives, so nothing is taken from it on trust: only the node types below are known, every word is read a
 * second time and every character of the text must be accounted for (`command-text.ts`).
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
  /** Every simple command of the text, in its order; at least one. */
  readonly commands: readonly CommandWords[];
  /** Literal targets of output redirections; `/dev/null` and descriptors are none. */
  readonly writes: readonly string[];
  /** Literal sources of input redirections. */
  readonly reads: readonly string[];
  /** The text is this one command and nothing else, so that it can be executed without a shell. */
  readonly argv?: CommandWords | undefined;
}

interface UnprovableCommand {
  readonly provable: false;
  /** Begins in lower case, ends without a stop. */
  readonly reason: string;
}

type ParsedCommand = ProvableCommand | UnprovableCommand;

/** A cause why nothing is proven; `undefined` while all is well. */
type Doubt = string | undefined;

interface Reading extends Signs {
  readonly text: string;
  readonly commands: CommandWords[];
  readonly spans: Span[];
  readonly writes: string[];
  readonly reads: string[];
  heredocs: number;
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
  const isRelative = (path: string): boolean => !path.startsWith("/");
  if (commands.some(([program]) => program === "cd") && [...writes, ...reads].some(isRelative)) {
    return unprovable("a redirection to a relative path stands beside `cd`");
  }
  return { provable: true, commands, writes, reads, argv: isBare(text, reading) ? first : undefined };
}

function unprovable(reason: string): UnprovableCommand {
  return { provable: false, reason };
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
  if (!reading.ok) return reading.refusal;
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

/* Redirections with literal targets: which files they write and read. */

/** No file: nothing is kept there, or it is a descriptor that is open anyway. */
const NO_FILES: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"]);
/** Bash opens a connection for these. */
const CONNECTION = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Why it cannot be proven; `undefined` when it can, with its files added to `found`. */
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
  if (!isAgreed) return "a redirection can be read in two ways";
  return redirection.type === "HereString" ? undefined : noteFile(redirection, reading.value, found);
}

function noteFile({ operator, descriptor }: Redirect, target: string, found: Reading): Doubt {
  const duplicates = operator === ">&" || operator === "<&";
  if (duplicates && /^(?:[0-9]+-?|-)$/.test(target)) return undefined;
  if (operator === "<&" || (operator === ">&" && descriptor !== undefined)) {
    return `\`${operator}${target}\` is no descriptor`;
  }
  if (target === "") return "a redirection has an empty target";
  if (CONNECTION.test(target)) return `\`${target}\` opens a network connection`;
  if (NO_FILES.has(target)) return undefined;
  if (operator === "<" || operator === "<>") found.reads.push(target);
  if (operator !== "<") found.writes.push(target);
  return undefined;
}

/** Only where nothing in it is expanded. One is enough for a message on standard input, and where its text ends is then found without the parser too. */
function checkHereDocument(document: HereDoc, found: Reading): Doubt {
  const { delimiter, body, closing } = document;
  if (++found.heredocs > 1) return "it has more than one here-document";
  if (delimiter === undefined || closing === undefined) return "a here-document is not closed";
  const { text } = found;
  const [, word] = /^(['"]?)(\w+)\1$/.exec(delimiter.text)?.slice(1) ?? [];
  const lineEnd = text.indexOf("\n", document.end);
  if (word === undefined || lineEnd === -1 || /['"\\#]/.test(text.slice(document.end, lineEnd))) {
    return "a here-document begins in a way that is not certain";
  }
  const isQuoted = delimiter.text !== word;
  if (!isQuoted && /[$`\\]/.test(body.text))
    return "a here-document is expanded by the shell; quote its mark";
  const lines = text.slice(lineEnd + 1).split("\n");
  const strip = (line: string): string => (document.operator === "<<-" ? line.replace(/^\t+/, "") : line);
  const last = lines.findIndex((line) => strip(line) === word);
  const start = lineEnd + 1;
  const end = start + lines.slice(0, last + 1).join("\n").length;
  if (last === -1 || closing.end !== end || body.pos !== start) {
    return "it is not certain where a here-document ends";
  }
  found.spans.push({ start, end, isPlain: false });
  return undefined;
}

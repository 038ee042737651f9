/** Redirections with literal targets: which files they write and read. Here-documents only where nothing in them is expanded. */
import type { HereDoc, Redirect, Redirection } from "unbash";
import type { Span } from "./account-for-text.ts";
import { readLiteralWord } from "./literal-word.ts";

export interface RedirectedFiles {
  readonly text: string;
  readonly spans: Span[];
  readonly writes: string[];
  readonly reads: string[];
  heredocs: number;
}

/** No file: nothing is kept there, or it is a descriptor that is open anyway. */
const NO_FILES: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"]);
/** Bash opens a connection for these. */
const CONNECTION = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Why it cannot be proven; `undefined` when it can, with its files added to `found`. */
export function checkRedirection(redirection: Redirection, found: RedirectedFiles): string | undefined {
  if (redirection.descriptor?.type === "FileDescriptorVariable") return "a redirection sets a variable";
  if (redirection.type === "HereDoc") return checkHereDocument(redirection, found);
  const { operator, target } = redirection;
  if (target === undefined) return "a redirection has no target";
  const reading = readLiteralWord(target.text);
  if (!reading.ok) return reading.reason;
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

function noteFile({ operator, descriptor }: Redirect, target: string, found: RedirectedFiles): Doubt {
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

type Doubt = string | undefined;

/** One is enough for a message on standard input, and where its text ends is then found without the parser too. */
function checkHereDocument(document: HereDoc, found: RedirectedFiles): Doubt {
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

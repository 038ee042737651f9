/**
 * The form in which the index of what can be found lies on disk: a line of JSON, the terms, the skill files with their
 * stamps, and two arrays of numbers. Anything that is not exactly as it was written counts as not there.
 */
import { readFileSync } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { VERSION } from "../foundation/version.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { PARTS } from "./find-document.ts";
import type { Tokens } from "./token-store.ts";

/** Raise when the same text would become other numbers, or the file another form. */
const FORMAT = 2;

export interface IndexedFile {
  /** The skill file. */
  readonly path: string;
  readonly stamp: string;
  /** The last change in milliseconds. */
  readonly changed: number;
  /** Of what the manifest says: name, description and the like. */
  readonly digest: string;
}

export interface IndexContent {
  /** What the index is for; another text here makes the file count as not there. */
  readonly subject: string;
  readonly writtenAt: number;
  readonly terms: readonly string[];
  /** In the order of the tokens. */
  readonly files: readonly IndexedFile[];
  readonly tokens: Tokens;
}

interface Heading {
  readonly index: string;
  readonly subject: string;
  readonly writtenAt: number;
  /** In bytes. */
  readonly terms: number;
  /** In bytes. */
  readonly files: number;
  readonly skills: number;
  readonly tokens: number;
  readonly checksum: number;
}

const INDEX = `metier-find ${FORMAT} ${VERSION} ${endianness()}`;
const LINE_END = 0x0a;

/** A reader sees the old index or the new one, whole; the last of two writers wins. */
export function writeFindIndex(path: string, content: IndexContent): void {
  const { subject, writtenAt, terms, files, tokens } = content;
  const termBytes = Buffer.from(terms.join("\n"));
  const fileBytes = Buffer.from(
    files
      .map(({ path: file, stamp, changed, digest }) => [file, stamp, changed, digest].join("\t"))
      .join("\n"),
  );
  const data = Buffer.concat([termBytes, fileBytes, bytesOf(tokens.lengths), bytesOf(tokens.numbers)]);
  const facts: Omit<Heading, "checksum"> = {
    index: INDEX,
    subject,
    writtenAt,
    terms: termBytes.length,
    files: fileBytes.length,
    skills: files.length,
    tokens: tokens.numbers.length,
  };
  const heading: Heading = { ...facts, checksum: checksumOf(facts, data) };
  try {
    writeAtomic(path, Buffer.concat([Buffer.from(`${JSON.stringify(heading)}\n`), data]), { flush: false });
  } catch {
    // No room or no permission: the next search reads as much as this one.
  }
}

/** `undefined` when there is none, or none that can be used. */
export function readFindIndex(path: string, subject: string): IndexContent | undefined {
  try {
    const bytes = readFileSync(path);
    const end = bytes.indexOf(LINE_END);
    const heading = JSON.parse(bytes.toString("utf8", 0, end)) as Heading;
    const data = bytes.subarray(end + 1);
    const isSame = heading.index === INDEX && heading.subject === subject;
    const { checksum, ...facts } = heading;
    return isSame && checksumOf(facts, data) === checksum ? unpack(heading, data) : undefined;
  } catch {
    return undefined; // Absent, unreadable or cut short: everything is read anew.
  }
}

/** Of everything: a wrong number in the heading would read the data as something else. */
function checksumOf(facts: Omit<Heading, "checksum">, data: Buffer): number {
  return crc32(data, crc32(JSON.stringify(facts)));
}

function unpack(heading: Heading, data: Buffer): IndexContent {
  const { subject, writtenAt, skills } = heading;
  const lengthsAt = heading.terms + heading.files;
  const numbersAt = lengthsAt + skills * PARTS.length * 4;
  return {
    subject,
    writtenAt,
    terms: linesOf(data.toString("utf8", 0, heading.terms)),
    files: linesOf(data.toString("utf8", heading.terms, lengthsAt)).map(unpackFile),
    tokens: {
      lengths: numbersOf(data, lengthsAt, skills * PARTS.length),
      numbers: numbersOf(data, numbersAt, heading.tokens),
    },
  };
}

function unpackFile(line: string): IndexedFile {
  const [path = "", stamp = "", changed = "", digest = ""] = line.split("\t");
  return { path, stamp, changed: Number(changed), digest };
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

function bytesOf(numbers: Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** A copy: in the file the numbers stand at any place, in memory only at every fourth. */
function numbersOf(data: Buffer, from: number, count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  bytesOf(numbers).set(data.subarray(from, from + count * 4));
  return numbers;
}

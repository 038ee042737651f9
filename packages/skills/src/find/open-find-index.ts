/**
 * A finder over the skills of a catalog. What was read of a skill file last time is taken from the cache while the
 * file is the same; only the others are read. The cache can be deleted at any time and never changes an answer.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { readBounded, writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { MAX_SKILL_BYTES } from "../catalog/read-root.ts";
import { currentStamp, isSettled, lastChange } from "../catalog/skill-index.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { Skill } from "../skill/skill.ts";
import { candidateForFile } from "../sources/skill-files.ts";
import { stampOf } from "../trust/content-identity.ts";
import { type Finder, finderOver } from "./build-finder.ts";
import {
  createTokenStore,
  createVocabulary,
  PARTS,
  sumOf,
  type TokenStore,
  type Tokens,
} from "./token-store.ts";

export type FindableSkill = Pick<Skill, "name" | "manifest" | "form" | "location" | "root">;

interface FindIndexOptions {
  readonly skills: readonly FindableSkill[];
  /** Where the index lives; without it every skill file is read. */
  readonly cacheFolder?: string | undefined;
  /** The instructions of a skill that has no file. */
  readonly instructionsOf?: (name: string) => string | undefined;
  /** Told while files are read that the index does not have. */
  readonly onProgress?: ((step: FindProgress) => void) | undefined;
}

export interface FindProgress {
  /** What is being done, in words. */
  readonly what: string;
  /** How many skills are done. */
  readonly done: number;
  /** How many there are. */
  readonly total: number;
}

export interface FindIndex extends Finder {
  /** How many skill files were read for it; the others did not change. */
  readonly filesRead: number;
}

/** Fewer skills than this are read faster than an index is. */
const MIN_SKILLS = 32;
/** Between batches of this many files the event loop gets its turn: a server may be waiting. */
const BATCH = 256;

export async function openFindIndex(options: FindIndexOptions): Promise<FindIndex> {
  const { skills, cacheFolder } = options;
  const subject = [...new Set(skills.map(({ root }) => root))].sort(compareText).join("\0");
  const isIndexed = cacheFolder !== undefined && skills.length >= MIN_SKILLS;
  const path = isIndexed ? join(cacheFolder, "find", `${digestOf(subject)}.bin`) : undefined;
  const old = path === undefined ? undefined : readFindIndex(path, subject);
  const { store, files, filesRead, recalled } = await collect(options, old);
  const found = skills.map(({ name, location }) => ({ name, location }));
  const tokens = store.finish();
  const stored = files.filter((file) => file !== undefined);
  if (old !== undefined && stored.length === recalled && old.files.length === recalled) {
    return { ...finderOver(found, tokens, store.vocabulary), filesRead };
  }
  // Terms of skills that are gone would be taken for words that are known.
  const all = compactTokens(tokens, store.vocabulary.terms, () => true);
  if (path !== undefined) {
    const kept =
      stored.length === skills.length
        ? all
        : compactTokens(all.tokens, all.terms, (skill) => files[skill] !== undefined);
    writeFindIndex(path, { subject, writtenAt: Date.now(), files: stored, ...kept });
  }
  return { ...finderOver(found, all.tokens, createVocabulary(all.terms)), filesRead };
}

interface Collected {
  readonly store: TokenStore;
  /** For each skill what the index keeps; `undefined` when it keeps nothing of it. */
  readonly files: readonly (IndexedFile | undefined)[];
  readonly filesRead: number;
  readonly recalled: number;
}

async function collect(
  { skills, instructionsOf, onProgress }: FindIndexOptions,
  old: IndexContent | undefined,
): Promise<Collected> {
  const recall = openRecall(old);
  const store = createTokenStore(createVocabulary(old?.terms));
  const files: (IndexedFile | undefined)[] = [];
  let filesRead = 0;
  let recalled = 0;
  for (const [number, skill] of skills.entries()) {
    if (number % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const known = recall(skill, store);
    if (known !== undefined) recalled += 1;
    else if (skill.location !== "") {
      onProgress?.({ what: "Indexing skills", done: number, total: skills.length });
      filesRead += 1;
    }
    files.push(known ?? (await readInto(store, skill, instructionsOf)));
  }
  return { store, files, filesRead, recalled };
}

/** Copies what the old index has of a skill whose file and manifest are the same. */
function openRecall(
  old: IndexContent | undefined,
): (skill: FindableSkill, store: TokenStore) => IndexedFile | undefined {
  if (old === undefined) return () => undefined;
  const { lengths, numbers } = old.tokens;
  const places = new Map<string, { file: IndexedFile; part: number; from: number }>();
  let from = 0;
  for (const [index, file] of old.files.entries()) {
    const part = index * PARTS.length;
    places.set(file.path, { file, part, from });
    from += sumOf(lengths.subarray(part, part + PARTS.length));
  }
  return (skill, store) => {
    const place = places.get(skill.location);
    if (place === undefined || !isSettled(place.file.changed, old.writtenAt)) return undefined;
    if (currentStamp(skill.location) !== place.file.stamp) return undefined;
    if (manifestDigest(skill) !== place.file.digest) return undefined;
    const own = lengths.subarray(place.part, place.part + PARTS.length);
    store.copy(own, numbers.subarray(place.from, place.from + sumOf(own)));
    return place.file;
  };
}

/** Gives what the index keeps of it: nothing without a file that can be read and whose path fits on a line. */
async function readInto(
  store: TokenStore,
  skill: FindableSkill,
  instructionsOf: FindIndexOptions["instructionsOf"],
): Promise<IndexedFile | undefined> {
  const { name, location, form, manifest } = skill;
  const { description, tags, whenToUse } = manifest;
  const about = { name, description, tags, whenToUse };
  const read = location === "" ? undefined : readBounded(location, MAX_SKILL_BYTES);
  if (!read?.ok) {
    store.add({ ...about, body: instructionsOf?.(name) ?? "" });
    return undefined;
  }
  const parsed = parseSkill(candidateForFile(location, form), read.text);
  const { body } = parsed instanceof Promise ? await parsed : parsed;
  store.add({ ...about, body });
  if (/[\t\n]/.test(location)) return undefined;
  const { stats } = read;
  return { path: location, stamp: stampOf(stats), changed: lastChange(stats), digest: manifestDigest(skill) };
}

function manifestDigest({ name, manifest: { description, tags, whenToUse } }: FindableSkill): string {
  return digestOf(JSON.stringify([name, description, tags, whenToUse]));
}

function digestOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 24);
}

/** Some skills out of many, and only the terms they have, numbered as they occur: as if nothing else had been read. */
function compactTokens(
  { lengths, numbers }: Tokens,
  terms: readonly string[],
  isKept: (skill: number) => boolean,
): Pick<IndexContent, "tokens" | "terms"> {
  const kept = new Uint32Array(numbers.length);
  const keptLengths: number[] = [];
  const usedTerms: string[] = [];
  /** By old number the new one plus one. */
  const renumbered = new Uint32Array(terms.length);
  let count = 0;
  let from = 0;
  for (let skill = 0; skill * PARTS.length < lengths.length; skill++) {
    const own = lengths.subarray(skill * PARTS.length, (skill + 1) * PARTS.length);
    const to = from + sumOf(own);
    if (isKept(skill)) {
      keptLengths.push(...own);
      for (let token = from; token < to; token++) {
        const old = numbers[token] ?? 0;
        if (renumbered[old] === 0) renumbered[old] = usedTerms.push(terms[old] ?? "");
        kept[count++] = (renumbered[old] ?? 1) - 1;
      }
    }
    from = to;
  }
  const tokens = { lengths: Uint32Array.from(keptLengths), numbers: kept.slice(0, count) };
  return { tokens, terms: usedTerms };
}

// The index on disk: a line of JSON, the terms, the skill files with their stamps, and two arrays of numbers. Anything that
// is not exactly as it was written counts as not there.

/** Raise when the same text would become other numbers, or the file another form. */
const FORMAT = 2;

interface IndexedFile {
  /** The skill file. */
  readonly path: string;
  readonly stamp: string;
  /** The last change in milliseconds. */
  readonly changed: number;
  /** Of what the manifest says: name, description and the like. */
  readonly digest: string;
}

interface IndexContent {
  /** What the index is for; another text here makes the file count as not there. */
  readonly subject: string;
  readonly writtenAt: number;
  readonly terms: readonly string[];
  /** In the order of the tokens. */
  readonly files: readonly IndexedFile[];
  readonly tokens: Tokens;
}

interface Heading extends Pick<IndexContent, "subject" | "writtenAt"> {
  readonly index: string;
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
  const lines = files.map((file) => [file.path, file.stamp, file.changed, file.digest].join("\t"));
  const fileBytes = Buffer.from(lines.join("\n"));
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

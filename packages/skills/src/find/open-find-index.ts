/**
 * A finder over a catalog's skills. While nothing changed, the index on disk is searched directly; what was read of an
 * unchanged skill file last time comes from it. It can be deleted at any time and never changes an answer.
 */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { readBounded } from "@metier/base/files";
import { compareText } from "@metier/base/text";
import { MAX_SKILL_BYTES } from "../catalog/read-root.ts";
import { currentStamp, isSettled, lastChange } from "../catalog/skill-index.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { Skill } from "../skill/skill.ts";
import { candidateForFile } from "../sources/skill-files.ts";
import { stampOf } from "../trust/content-identity.ts";
import { type Finder, finderOver } from "./build-finder.ts";
import { countPairs } from "./count-pairs.ts";
import { FINGERPRINT_BYTES, type IndexContent, readFindIndex, writeFindIndex } from "./find-index-file.ts";
import { createVocabulary } from "./number-words.ts";
import { openReader } from "./score-skill.ts";
import { buildPostings, type SearchArrays } from "./search-index.ts";
import { openDictionary, packDictionary } from "./term-dictionary.ts";
import { compactTokens, createTokenStore, PARTS, type TokenStore, type Tokens } from "./token-store.ts";

export type FindableSkill = Pick<Skill, "name" | "manifest" | "form" | "location" | "root">;

interface FindIndexOptions {
  readonly skills: readonly FindableSkill[];
  /** Where the index is stored; without it every skill file is read. */
  readonly cacheFolder?: string | undefined;
  /** The instructions of a skill without a file. */
  readonly instructionsOf?: (name: string) => string | undefined;
  /** Called while files are read that the index does not have. */
  readonly onProgress?: ((step: FindProgress) => void) | undefined;
}

export interface FindProgress {
  /** The current action, in words. */
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

/** Fewer skills than this are read faster than an index. */
const MIN_SKILLS = 32;
/** The event loop gets a turn after this many files: a server may be waiting. */
const BATCH = 256;

export async function openFindIndex(options: FindIndexOptions): Promise<FindIndex> {
  const { skills, cacheFolder } = options;
  const subject = [...new Set(skills.map(({ root }) => root))].sort(compareText).join("\0");
  const isIndexed = cacheFolder !== undefined && skills.length >= MIN_SKILLS;
  const path = isIndexed ? join(cacheFolder, "find", `${digestOf(subject).toString("hex")}.bin`) : undefined;
  const old = path === undefined ? undefined : readFindIndex(path, subject);
  const found = skills.map(({ name, location }) => ({ name, location }));
  const current = old && (await fingerprintSkills(options));
  if (old && current && isSame(old, current)) return { ...finderOver(found, old.arrays), filesRead: 0 };
  const startedAt = Date.now(); // A file that changes from now on may have been read before its change.
  const { tokens, terms, fingerprints, changed, filesRead } = await collect(options, old, current);
  const arrays = await buildInTurns(tokens, terms);
  if (path !== undefined) {
    const content = { ...arrays, fingerprints, changed };
    writeFindIndex(path, { subject, writtenAt: startedAt, arrays: content });
  }
  return { ...finderOver(found, arrays), filesRead };
}

/** Like `buildSearchArrays`, with a turn for the event loop between its steps. */
async function buildInTurns(tokens: Tokens, terms: readonly string[]): Promise<SearchArrays> {
  const dictionary = packDictionary(terms);
  await giveTurn();
  const postings = buildPostings(tokens, terms.length);
  await giveTurn();
  const pairs = countPairs(tokens, terms.length);
  await giveTurn();
  return { ...tokens, ...dictionary, ...postings, ...pairs };
}

/** The current inputs of all skills, as far as their files' stamps tell. */
async function fingerprintSkills({ skills, instructionsOf }: FindIndexOptions): Promise<Buffer> {
  const fingerprints = Buffer.alloc(skills.length * FINGERPRINT_BYTES);
  for (const [number, skill] of skills.entries()) {
    if (number % BATCH === BATCH - 1) await giveTurn();
    const source = skill.location === "" ? givenSource(skill, instructionsOf) : currentStamp(skill.location);
    if (source !== undefined) fingerprint(skill, source).copy(fingerprints, number * FINGERPRINT_BYTES);
  }
  return fingerprints;
}

function givenSource({ name }: FindableSkill, instructionsOf: FindIndexOptions["instructionsOf"]): string {
  return instructionsOf?.(name) ?? "";
}

/** `source` is the stamp of the skill's file, or the instructions of a skill without one. */
function fingerprint({ name, location, manifest }: FindableSkill, source: string): Buffer {
  const { description, tags, whenToUse } = manifest;
  return digestOf(JSON.stringify([location, source, name, description, tags, whenToUse]));
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, FINGERPRINT_BYTES);
}

function giveTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether the index has these skills in this order, and no file changed as it was written. */
function isSame({ writtenAt, arrays }: IndexContent, current: Buffer): boolean {
  return current.equals(arrays.fingerprints) && arrays.changed.every((time) => isSettled(time, writtenAt));
}

interface Collected {
  readonly tokens: Tokens;
  readonly terms: readonly string[];
  readonly fingerprints: Uint8Array;
  readonly changed: Float64Array;
  readonly filesRead: number;
}

async function collect(
  { skills, instructionsOf, onProgress }: FindIndexOptions,
  old: IndexContent | undefined,
  current: Buffer | undefined,
): Promise<Collected> {
  const recall = openRecall(old, current);
  const store = createTokenStore(createVocabulary(termsOf(old)));
  const fingerprints = new Uint8Array(skills.length * FINGERPRINT_BYTES);
  const changed = new Float64Array(skills.length);
  let filesRead = 0;
  for (const [number, skill] of skills.entries()) {
    if (number % BATCH === BATCH - 1) await giveTurn();
    let entry = recall(number, store);
    if (entry === undefined) {
      if (skill.location !== "") {
        onProgress?.({ what: "Indexing skills", done: number, total: skills.length });
        filesRead += 1;
      }
      entry = await readInto(store, skill, instructionsOf);
    }
    fingerprints.set(entry.fingerprint, number * FINGERPRINT_BYTES);
    changed[number] = entry.changed;
  }
  const tokens = store.finish();
  const { terms } = store.vocabulary;
  // Terms of removed skills would count as known words.
  const used = old === undefined ? { tokens, terms } : compactTokens(tokens, terms);
  return { ...used, fingerprints, changed, filesRead };
}

function termsOf(old: IndexContent | undefined): readonly string[] {
  if (old === undefined) return [];
  const { size, textOf } = openDictionary(old.arrays, () => old.arrays);
  return Array.from({ length: size }, (_, term) => textOf(term));
}

/** What an index stores about a skill besides its tokens. */
interface Entry {
  readonly fingerprint: Uint8Array;
  readonly changed: number;
}

type Recall = (number: number, store: TokenStore) => Entry | undefined;

/** Copies the old index's data of a skill with the same inputs. */
function openRecall(old: IndexContent | undefined, current: Buffer | undefined): Recall {
  if (old === undefined || current === undefined) return () => undefined;
  const { lengths, numbers, changed, fingerprints } = old.arrays;
  const { tokenStarts } = openReader(old.arrays);
  const keyAt = (bytes: Uint8Array, number: number): string =>
    Buffer.from(bytes.buffer, bytes.byteOffset + number * FINGERPRINT_BYTES, FINGERPRINT_BYTES).toString(
      "latin1",
    );
  const places = new Map<string, number>();
  for (const [place, time] of changed.entries()) {
    if (isSettled(time, old.writtenAt)) places.set(keyAt(fingerprints, place), place);
  }
  return (number, store) => {
    const place = places.get(keyAt(current, number));
    if (place === undefined) return undefined;
    const own = lengths.subarray(place * PARTS.length, (place + 1) * PARTS.length);
    store.copy(own, numbers.subarray(tokenStarts[place], tokenStarts[place + 1]));
    const from = place * FINGERPRINT_BYTES;
    const kept = fingerprints.subarray(from, from + FINGERPRINT_BYTES);
    return { fingerprint: kept, changed: changed[place] ?? Number.POSITIVE_INFINITY };
  };
}

/** An unreadable file is tried again next time; until then the skill is found by its manifest. */
async function readInto(
  store: TokenStore,
  skill: FindableSkill,
  instructionsOf: FindIndexOptions["instructionsOf"],
): Promise<Entry> {
  const { name, location, form, manifest } = skill;
  const { description, tags, whenToUse } = manifest;
  const about = { name, description, tags, whenToUse };
  if (location === "") {
    const body = givenSource(skill, instructionsOf);
    store.add({ ...about, body });
    return { fingerprint: fingerprint(skill, body), changed: 0 };
  }
  const read = readBounded(location, MAX_SKILL_BYTES);
  if (!read.ok) {
    store.add({ ...about, body: givenSource(skill, instructionsOf) });
    return { fingerprint: new Uint8Array(FINGERPRINT_BYTES), changed: Number.POSITIVE_INFINITY };
  }
  const parsed = parseSkill(candidateForFile(location, form), read.text);
  const { body } = parsed instanceof Promise ? await parsed : parsed;
  store.add({ ...about, body });
  return fileEntry(skill, read.stats);
}

function fileEntry(skill: FindableSkill, stats: BigIntStats): Entry {
  return { fingerprint: fingerprint(skill, stampOf(stats)), changed: lastChange(stats) };
}

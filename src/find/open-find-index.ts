/**
 * A finder over the skills of a catalog. What was read of a skill file last time is taken from the cache while the
 * file is the same; only the others are read. The cache can be deleted at any time and never changes an answer.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { currentStamp, isSettled, lastChange } from "../catalog/file-stamp.ts";
import { MAX_SKILL_BYTES } from "../catalog/read-skill.ts";
import { compareText } from "../foundation/diagnostic.ts";
import { readBounded } from "../host/read-bounded.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { Skill } from "../skill/skill.ts";
import { candidateForFile } from "../sources/candidate.ts";
import { stampOf } from "../trust/identify-file.ts";
import { type Finder, finderOver } from "./build-finder.ts";
import { compactTokens } from "./compact-tokens.ts";
import { PARTS } from "./find-document.ts";
import { type IndexContent, type IndexedFile, readFindIndex, writeFindIndex } from "./find-index-file.ts";
import { createTokenStore, sumOf, type TokenStore } from "./token-store.ts";
import { createVocabulary } from "./vocabulary.ts";

export type FindableSkill = Pick<Skill, "name" | "manifest" | "form" | "location" | "root">;

export interface FindIndexOptions {
  readonly skills: readonly FindableSkill[];
  /** Where the index lives; without it every skill file is read. */
  readonly cacheFolder?: string | undefined;
  /** The instructions of a skill that has no file. */
  readonly instructionsOf?: (name: string) => string | undefined;
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
  const path =
    cacheFolder === undefined || skills.length < MIN_SKILLS
      ? undefined
      : join(cacheFolder, "find", `${digestOf(subject)}.bin`);
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
  { skills, instructionsOf }: FindIndexOptions,
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
    else if (skill.location !== "") filesRead += 1;
    files.push(known ?? (await readInto(store, skill, instructionsOf)));
  }
  return { store, files, filesRead, recalled };
}

type Recall = (skill: FindableSkill, store: TokenStore) => IndexedFile | undefined;

/** Copies what the old index has of a skill whose file and manifest are the same. */
function openRecall(old: IndexContent | undefined): Recall {
  if (old === undefined) return () => undefined;
  const { lengths, numbers } = old.tokens;
  const places = new Map<
    string,
    { readonly file: IndexedFile; readonly part: number; readonly from: number }
  >();
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
  const about = { name, description, tags, ...(whenToUse !== undefined && { whenToUse }) };
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

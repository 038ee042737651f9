/**
 * The files of an installed skill, by its digest, so that `verify` can name the files that differ, offline. Lists of
 * skills installed together share one file, since a file costs more than its content. A list need not be trusted: its
 * digest must match, so a changed one is not used.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { readBounded, replaceFile } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import { digestFiles, type IdentifiedFile } from "../trust/content-identity.ts";

type ListPlaces = Pick<Places, "state">;

interface FileList {
  readonly digest: string;
  readonly files: readonly IdentifiedFile[];
}

const MAX_BYTES = 16 * 1024 * 1024;
/** In one file. */
const MAX_TOGETHER = 2_000;
/** What a list stores about a file: without the timestamp, which belongs to one location. */
const LISTED: (keyof IdentifiedFile)[] = ["path", "kind", "size", "executable", "digest"];
const TOGETHER = /^together-[0-9a-f]{64}\.json$/;

export function rememberFiles(places: ListPlaces, lists: readonly FileList[]): void {
  for (let from = 0; from < lists.length; from += MAX_TOGETHER)
    rememberTogether(places, lists.slice(from, from + MAX_TOGETHER));
}

function rememberTogether(places: ListPlaces, lists: readonly FileList[]): void {
  const [first, ...more] = lists;
  if (first === undefined) return;
  const texts = lists.map(
    ({ digest, files }) => `${JSON.stringify(digest)}:${JSON.stringify(files, LISTED)}`,
  );
  const text = more.length === 0 ? JSON.stringify(first.files, LISTED) : `{${texts.join(",\n")}}`;
  const all = digestBytes(lists.map(({ digest }) => digest).join("\n"));
  const file = more.length === 0 ? listFile(places, first.digest) : togetherFile(places, all);
  try {
    // Written in place: a list that a kill truncated has another digest and is ignored.
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw fault;
    if (code === "EEXIST" && readText(file) === text) return;
    mkdirSync(listsFolder(places), { recursive: true, mode: 0o700 });
    replaceFile(file, text, { flush: false });
  }
}

/** `undefined` if there is none with this digest. */
export function recallFiles(places: ListPlaces, digest: string): readonly IdentifiedFile[] | undefined {
  const own = parse(readText(listFile(places, digest)));
  if (isListOf(own, digest)) return own;
  for (const name of namesIn(listsFolder(places)).filter((one) => TOGETHER.test(one))) {
    const files = openTogether(join(listsFolder(places), name)).get(digest);
    if (isListOf(files, digest)) return files;
  }
  return undefined;
}

/** Removes lists of content that no lock records anymore. */
export function forgetFiles(places: ListPlaces, recorded: ReadonlySet<string>, olderThanMs: number): void {
  const kept = new Set([...recorded].map((digest) => listFile(places, digest)));
  for (const name of namesIn(listsFolder(places))) {
    const file = join(listsFolder(places), name);
    if (kept.has(file)) continue;
    const writtenAt = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - writtenAt < olderThanMs) continue;
    const isInUse = TOGETHER.test(name) && [...openTogether(file).keys()].some((one) => recorded.has(one));
    if (!isInUse) rmSync(file, { force: true });
  }
}

function isListOf(files: unknown, digest: string): files is readonly IdentifiedFile[] {
  try {
    return Array.isArray(files) && digestFiles(files as readonly IdentifiedFile[]) === digest;
  } catch {
    return false; // Not what was written: `verify` then compares folders as a whole.
  }
}

/** The last one: callers that ask for many usually ask for adjacent ones. */
let opened: { readonly text: string; readonly lists: ReadonlyMap<string, unknown> } | undefined;

function openTogether(file: string): ReadonlyMap<string, unknown> {
  const text = readText(file) ?? "";
  if (opened?.text !== text) {
    const value = parse(text);
    opened = { text, lists: new Map(isJsonObject(value) ? Object.entries(value) : []) };
  }
  return opened.lists;
}

function readText(file: string): string | undefined {
  const read = readBounded(file, MAX_BYTES);
  return read.ok ? read.text : undefined;
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Truncated or changed.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Nothing was installed yet.
  }
}

function listsFolder({ state }: ListPlaces): string {
  return join(state, "contents");
}

function listFile(places: ListPlaces, digest: string): string {
  return join(listsFolder(places), `${digest.slice("sha256:".length)}.json`);
}

function togetherFile(places: ListPlaces, digest: string): string {
  return join(listsFolder(places), `together-${digest.slice("sha256:".length)}.json`);
}

/**
 * GGUF files on this machine: where people keep them, found within bounds. Only a file that begins with `GGUF` is one, whatever
 * its name says; nothing else of it is read here.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isInside, realPathOr } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";

export interface GgufFile {
  /** Without folder and ending: what `gguf:<name>` finds. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

interface GgufSearch {
  readonly environment: Environment;
  readonly home: string;
  /** Files inside it are not the user's own. */
  readonly project?: string | undefined;
  /** What the user names: a file or a folder. Only there is looked then. */
  readonly given?: string | undefined;
}

const MOST_ENTRIES = 5_000;
const MOST_FILES = 50;
/** Hugging Face keeps a file four folders down: `models--…/snapshots/<revision>/<file>`. */
const MOST_FOLDERS_DOWN = 4;

/** `~/models`, and the folders of LM Studio, llama.cpp, Hugging Face and node-llama-cpp. */
function listGgufPlaces({ environment, home }: Pick<GgufSearch, "environment" | "home">): readonly string[] {
  const { LLAMA_CACHE, XDG_CACHE_HOME, HF_HUB_CACHE, HF_HOME } = environment;
  const cache = XDG_CACHE_HOME || join(home, ".cache");
  const places = [
    LLAMA_CACHE,
    join(home, "models"),
    join(home, ".lmstudio", "models"),
    join(cache, "lm-studio", "models"),
    join(cache, "llama.cpp"),
    join(home, "Library", "Caches", "llama.cpp"),
    join(home, ".node-llama-cpp", "models"),
    HF_HUB_CACHE || join(HF_HOME || join(cache, "huggingface"), "hub"),
  ];
  return [...new Set(places.filter((place): place is string => place?.startsWith("/") === true))];
}

/** The largest first: that is the one a user bought a disk for. */
export function findGgufFiles(search: GgufSearch): readonly GgufFile[] {
  const { given, project, home } = search;
  const root = project === undefined ? undefined : realPathOr(project);
  const isHome = root !== undefined && isInside(realPathOr(home), root);
  const found = new Map<string, GgufFile>();
  const left = { entries: MOST_ENTRIES };
  for (const place of given === undefined ? listGgufPlaces(search) : [given]) {
    for (const file of filesBelow(place, left)) {
      if (found.size >= MOST_FILES) break;
      const real = realPathOr(file.path);
      const isTheirs = given === undefined && root !== undefined && !isHome && isInside(real, root);
      if (!isTheirs && !found.has(real)) found.set(real, file);
    }
  }
  return [...found.values()].toSorted((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name));
}

interface Left {
  entries: number;
}

function* filesBelow(place: string, left: Left, depth = 0): Generator<GgufFile, void> {
  const here = statSync(place, { throwIfNoEntry: false });
  if (here?.isFile()) {
    const file = readGguf(place);
    if (file) yield file;
    return;
  }
  if (!here?.isDirectory()) return;
  for (const entry of listFolder(place)) {
    left.entries -= 1;
    if (left.entries < 0) return;
    const path = join(place, entry.name);
    if (entry.isDirectory()) {
      if (depth < MOST_FOLDERS_DOWN) yield* filesBelow(path, left, depth + 1);
    } else if (isModelName(entry.name)) {
      const file = readGguf(path);
      if (file) yield file;
    }
  }
}

function listFolder(folder: string): ReturnType<typeof readFolder> {
  try {
    return readFolder(folder).toSorted((a, b) => a.name.localeCompare(b.name));
  } catch {
    return []; // Gone, or not for this user.
  }
}

function readFolder(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

/** Not the second part of a split model, not the eyes of one, and not one for embeddings: these answer nothing. */
function isModelName(name: string): boolean {
  if (!/\.gguf$/i.test(name) || /mmproj|embed/i.test(name)) return false;
  const [, part] = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name) ?? [];
  return part === undefined || part === "00001";
}

/** `undefined`: not there, not a file, or one that does not begin with `GGUF`. */
export function readGguf(path: string): GgufFile | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = fstatSync(file);
    const magic = Buffer.alloc(4);
    const isModel =
      fstatSync(file).isFile() && readSync(file, magic, 0, 4, 0) === 4 && magic.toString("latin1") === "GGUF";
    return isModel ? { name: ggufName(path), path, bytes: size } : undefined;
  } catch {
    return undefined; // Gone, or not for this user.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Without folder, ending and part number. */
export function ggufName(path: string): string {
  return basename(path).replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, "");
}

/** Whether the text is a path rather than a name: it has a separator, or the ending. */
export function isGgufPath(text: string): boolean {
  return /[\\/]|\.gguf$/i.test(text) || text.startsWith("~");
}

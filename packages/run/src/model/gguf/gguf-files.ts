/**
 * Finds GGUF files on this machine in the usual folders, within limits. Only a file that starts with `GGUF` counts,
 * whatever its name; nothing else of it is read here.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isInside, realPathOr } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";

export interface GgufFile {
  /** Without folder and extension: what `gguf:<name>` finds. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

interface GgufSearch {
  readonly environment: Environment;
  readonly home: string;
  /** Files inside it aren't the user's own. */
  readonly project?: string | undefined;
  /** A file or folder that the user named. Then only this is searched. */
  readonly given?: string | undefined;
}

const MOST_ENTRIES = 5_000;
const MOST_FILES = 50;
/** Hugging Face stores a file four folders down: `models--…/snapshots/<revision>/<file>`. */
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

/** Largest first: probably the one the user wants most. */
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
    return []; // Missing, or not accessible to this user.
  }
}

function readFolder(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

/** Not the second part of a split model, not a vision part, and not an embedding model: these can't answer. */
function isModelName(name: string): boolean {
  if (!/\.gguf$/i.test(name) || /mmproj|embed/i.test(name)) return false;
  const [, part] = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name) ?? [];
  return part === undefined || part === "00001";
}

/** `undefined`: missing, not a file, or not starting with `GGUF`. */
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
    return undefined; // Missing, or not accessible to this user.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Without folder, extension and part number. */
export function ggufName(path: string): string {
  return basename(path).replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, "");
}

/** Whether the text is a path rather than a name: it has a separator or the extension. */
export function isGgufPath(text: string): boolean {
  return /[\\/]|\.gguf$/i.test(text) || text.startsWith("~");
}

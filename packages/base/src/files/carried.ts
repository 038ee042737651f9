/**
 * Files that built code carries: programs for the sandbox, bundled skills. If Metier is part of another bundle, its
 * own folder doesn't exist, and the files are unpacked from here. The build packs them
 * (`scripts/build/carry-files.mjs`).
 */
import {
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { digestBytes } from "../digest.ts";
import { MetierError } from "../errors.ts";
import { isOwnFolder, metierPlaces } from "../places.ts";
import { LEAVE_OUT_OF_BUNDLE } from "./own-package.ts";

type Files = ReadonlyMap<string, Buffer>;

/** What was unpacked into temporary folders, by digest. */
const temporary = new Map<string, string>();

/**
 * Returns a folder with only the carried files: in the cache under their digest, so that it is made once, or in a
 * temporary folder of this process if the cache isn't writable.
 *
 * @param what in a word: `skills`
 * @param cache default: the user's
 */
export function layOutCarried(what: string, carried: string | undefined, cache?: string): string {
  if (carried === undefined) throw missing(what, "This build doesn't contain them.");
  const files = unpack(carried);
  const digest = digestBytes(carried).slice("sha256:".length, "sha256:".length + 16);
  try {
    return layOutAt(join(cache ?? metierPlaces().cache, "carried"), `${what}-${digest}`, files);
  } catch {
    return layOutTemporarily(what, digest, files);
  }
}

/** `parent` and its folders must belong to the user: a place that another user can write to is not used. */
function layOutAt(parent: string, name: string, files: Files): string {
  const folder = join(parent, name);
  if (holds(folder, files)) return folder;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (!isPrivate(parent)) throw new Error(`Others can write to \`${parent}\`.`);
  const fresh = mkdtempSync(join(parent, `.${name}-`));
  try {
    write(fresh, files);
    for (let attempt = 0; attempt < 3 && !holds(folder, files); attempt++) {
      // Its content was changed or cut short; or another process was faster, and now it is right.
      rmSync(folder, { recursive: true, force: true });
      try {
        renameSync(fresh, folder);
      } catch {
        // Someone put another one there meanwhile; it is checked next.
      }
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  if (!holds(folder, files)) throw new Error(`\`${folder}\` does not keep what is written to it.`);
  return folder;
}

function layOutTemporarily(what: string, digest: string, files: Files): string {
  const known = temporary.get(digest);
  if (known !== undefined && holds(known, files)) return known;
  try {
    const folder = mkdtempSync(join(tmpdir(), `metier-${what}-`));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    write(folder, files);
    temporary.set(digest, folder);
    return folder;
  } catch (fault) {
    throw missing(what, `They can't be unpacked: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

function missing(what: string, why: string): MetierError {
  return new MetierError(
    "package.incomplete",
    `Metier is part of a bundle here and can't find its own ${what}. ${why}`,
    {
      hint: `Set \`METIER_HOME\` or \`home\` to a writable folder. ${LEAVE_OUT_OF_BUNDLE}`,
    },
  );
}

function unpack(carried: string): Files {
  // Few callers need it, and loading it would slow every start that loads this file.
  const { brotliDecompressSync } = process.getBuiltinModule("node:zlib");
  const texts: unknown = JSON.parse(brotliDecompressSync(Buffer.from(carried, "base64")).toString());
  return new Map(
    Object.entries(texts as Record<string, string>).map(([path, text]) => [path, Buffer.from(text)]),
  );
}

function write(folder: string, files: Files): void {
  for (const [path, content] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600, flag: "wx" });
  }
}

/** Whether a folder belongs to the user and has exactly these files. */
function holds(folder: string, files: Files): boolean {
  try {
    if (!isPrivate(folder)) return false;
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => !entry.isDirectory());
    return found.length === files.size && found.every((entry) => isSame(folder, entry, files));
  } catch {
    return false; // Missing, or not readable.
  }
}

function isSame(folder: string, entry: Dirent, files: Files): boolean {
  const file = join(entry.parentPath, entry.name);
  return entry.isFile() && files.get(relative(folder, file))?.equals(readFileSync(file)) === true;
}

function isPrivate(folder: string): boolean {
  const found = lstatSync(folder);
  return (
    found.isDirectory() && isOwnFolder(folder) && (process.platform === "win32" || (found.mode & 0o022) === 0)
  );
}

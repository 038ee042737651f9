/**
 * Files that built code carries within itself: programs for the sandbox, bundled skills. Where Metier became a part of a
 * bundle its own folder is not there, and they are laid out from here. The build packs them (`scripts/build/carry-files.mjs`).
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

/** Of what was laid out where only temporary folders can be written to, by its digest. */
const temporary = new Map<string, string>();

/**
 * A folder with the carried files, and nothing else in it: below the cache, under the digest of what they are, so that it
 * is made once; in a temporary folder of this process where the cache cannot be written to.
 *
 * @param what in a word: `skills`
 * @param cache default: that of the user
 */
export function layOutCarried(what: string, carried: string | undefined, cache?: string): string {
  if (carried === undefined) throw missing(what, "They are not in this build.");
  const files = unpack(carried);
  const digest = digestBytes(carried).slice("sha256:".length, "sha256:".length + 16);
  try {
    return layOutAt(join(cache ?? metierPlaces().cache, "carried"), `${what}-${digest}`, files);
  } catch {
    return layOutTemporarily(what, digest, files);
  }
}

/** `parent` and its folders are the user's own: what another user can write to is not taken. */
function layOutAt(parent: string, name: string, files: Files): string {
  const folder = join(parent, name);
  if (holds(folder, files)) return folder;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (!isPrivate(parent)) throw new Error(`\`${parent}\` can be written to by others.`);
  const fresh = mkdtempSync(join(parent, `.${name}-`));
  try {
    write(fresh, files);
    for (let attempt = 0; attempt < 3 && !holds(folder, files); attempt++) {
      // What lies there was changed or cut short; or another process was faster, and then it holds now.
      rmSync(folder, { recursive: true, force: true });
      try {
        renameSync(fresh, folder);
      } catch {
        // Somebody put another one there meanwhile, which is looked at next.
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
    throw missing(what, `They cannot be laid out: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

function missing(what: string, why: string): MetierError {
  return new MetierError(
    "package.incomplete",
    `Metier is a part of a bundle here, and its own ${what} are not found. ${why}`,
    {
      hint: `Set \`METIER_HOME\` or \`home\` to a folder that can be written to. ${LEAVE_OUT_OF_BUNDLE}`,
    },
  );
}

function unpack(carried: string): Files {
  // Few need it, and to load it costs every start that loads this file.
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

/** Whether a folder is the user's own, and has these files and no other. */
function holds(folder: string, files: Files): boolean {
  try {
    if (!isPrivate(folder)) return false;
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => !entry.isDirectory());
    return found.length === files.size && found.every((entry) => isSame(folder, entry, files));
  } catch {
    return false; // Not there, or not readable.
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

/**
 * How much a source may hold, and what may be in it, entry by entry and before anything is written: names that mean the
 * same everywhere and show what they are, links that stay inside, plain files only, and not too much of anything. The one
 * rule book for archives, repositories and folders; and the writer that keeps to it: into an empty folder and nowhere else,
 * every file new, links last of all, when no file can follow them any more, and of modes only the executable bit.
 */
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { checkContainedPath, listFiles, showPath } from "@metier/base/files";
import { takeOutInvisible } from "@metier/base/text";
import { damaged, limited, RefusedTree } from "./install-fault.ts";

export interface SourceLimits {
  readonly files: number;
  /** Of all files together; what is downloaded for them may have as many. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Of folders in one another. */
  readonly depth: number;
  /** Of one path, in UTF-8. */
  readonly pathBytes: number;
  /** How long a server may be silent. */
  readonly idleMs: number;
  /** For the whole fetch. */
  readonly totalMs: number;
}

export const SOURCE_LIMITS: SourceLimits = {
  files: 20_000,
  bytes: 256 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  depth: 32,
  pathBytes: 1024,
  idleMs: 60_000,
  totalMs: 600_000,
};

/** Files and folders; a tree of nothing but folders is one, too. */
export const MAX_ENTRIES_PER_FILE: number = 4;

/** What is wrong with a folder that is to be installed; errors among it mean that it must not be. No link is followed. */
export function checkTree(folder: string, limits: SourceLimits = SOURCE_LIMITS): readonly Diagnostic[] {
  const listing = listFiles(folder, limits.files * MAX_ENTRIES_PER_FILE);
  if (!listing.ok) {
    const { fault, detail, path } = listing;
    const told = {
      "too-many": ["tree.limit", `It has ${detail}.`],
      "name-not-utf8": ["tree.name", `The file name \`${detail}\` is not UTF-8.`],
      unreadable: ["source.unreadable", `It cannot be listed: ${detail}.`],
    } as const;
    const [code, message] = told[fault];
    return [{ code, severity: "error", message, path }];
  }
  const check = startEntryCheck(folder, limits);
  const found: Diagnostic[] = [];
  for (const { path, kind } of listing.files) {
    const file = join(folder, path);
    const { size, mode } = lstatSync(file);
    const target = kind === "link" ? readlinkSync(file) : undefined;
    found.push(...check({ path, kind, bytes: kind === "file" ? size : 0, mode, target }));
    if (found.some(({ code }) => code === "tree.limit")) break; // What comes after it is too much as well.
  }
  return found;
}

export interface FetchedEntry {
  /** Below the source's root, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "special";
  /** Of a file. */
  readonly bytes: number;
  /** Of a link. */
  readonly target?: string | undefined;
  /** Permission bits, where there are any. */
  readonly mode?: number;
}

type Known = Pick<FetchedEntry, "path" | "kind">;

type Report = (code: DiagnosticCode, message: string, hint?: string) => void;

const NARROW = "Name the path of one skill in the address, so that the rest is not fetched.";
const SETUID_OR_SETGID = 0o6000;
/** How Windows and macOS may spell it. */
const GIT_FOLDER = /^(?:\.git|git~1)[. ]*(?::.*)?$/i;
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;
const NOT_ON_WINDOWS = /[<>:"|?*]|[. ]$/;

/** Takes the entries of one source, in any order; gives what is wrong with each. */
export function startEntryCheck(
  folder: string,
  limits: SourceLimits,
): (entry: FetchedEntry) => readonly Diagnostic[] {
  /** By what a file system that ignores case and Unicode forms makes of a path. */
  const known = new Map<string, Known>();
  let files = 0;
  let bytes = 0;

  const claim = (path: string, kind: Known["kind"], report: Report): void => {
    const folded = foldPath(path);
    const there = known.get(folded);
    if (there === undefined) known.set(folded, { path, kind });
    else if (there.path !== path) {
      const both = `${showPath(there.path)} and ${showPath(path)}`;
      const what = `${both} are one name where letter case or Unicode forms make no difference.`;
      report("tree.twins", what, NARROW);
    } else if (there.kind !== "folder" || kind !== "folder") {
      report("tree.name", `${showPath(path)} is there twice: as a ${there.kind} and as a ${kind}.`);
    }
  };
  const count = (entry: FetchedEntry, report: Report): void => {
    if (entry.kind !== "folder") files += 1;
    bytes += entry.bytes;
    if (files > limits.files) report("tree.limit", `It has more than ${limits.files} files.`, NARROW);
    if (entry.bytes > limits.fileBytes) {
      const what = `${showPath(entry.path)} has ${entry.bytes} bytes; ${limits.fileBytes} are allowed.`;
      report("tree.limit", what);
    }
    if (bytes > limits.bytes) report("tree.limit", `It has more than ${limits.bytes} bytes.`, NARROW);
  };

  return (entry) => {
    const found: Diagnostic[] = [];
    const add = (severity: Diagnostic["severity"]): Report => {
      return (code, message, hint) =>
        found.push({ code, severity, message, path: join(folder, entry.path), hint });
    };
    const refuse = add("error");
    count(entry, refuse);
    const segments = checkPath(entry.path, limits, refuse);
    if (segments.length === 0) return found;
    for (const segment of new Set(segments)) checkName(segment, entry.path, refuse, add("warning"));
    for (let length = 1; length < segments.length; length++) {
      claim(segments.slice(0, length).join("/"), "folder", refuse);
    }
    claim(segments.join("/"), entry.kind, refuse);
    checkKind(entry, segments, refuse);
    return found;
  };
}

/** Without segments: it is refused, and nothing more can be said of it. */
function checkPath(path: string, limits: SourceLimits, refuse: Report): readonly string[] {
  const checked = checkContainedPath(path);
  if (!checked.ok) {
    refuse("tree.name", `A name in it cannot be used: ${checked.message}`);
    return [];
  }
  const { segments } = checked;
  if (segments.length > limits.depth) {
    const depth = segments.length;
    refuse("tree.limit", `${showPath(path)} lies ${depth} folders deep; ${limits.depth} are allowed.`);
    return [];
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > limits.pathBytes) {
    refuse("tree.limit", `The path ${showPath(path)} has ${bytes} bytes; ${limits.pathBytes} are allowed.`);
    return [];
  }
  return segments;
}

function checkName(name: string, path: string, refuse: Report, warn: Report): void {
  const visible = takeOutInvisible(name);
  if (visible.hidden.length > 0 || /[\x80-\x9f\u2028\u2029]/.test(name)) {
    refuse("tree.name", `The name ${showPath(path)} has characters that cannot be seen.`);
  }
  if (GIT_FOLDER.test(visible.text)) {
    refuse("tree.name", `${showPath(path)} would be a folder of git, which can make it execute things.`);
  }
  if (DEVICE_NAME.test(name) || NOT_ON_WINDOWS.test(name)) {
    warn("tree.unportable-name", `${showPath(path)} cannot exist on Windows.`);
  }
}

function checkKind(
  { path, kind, mode = 0, target = "" }: FetchedEntry,
  segments: readonly string[],
  refuse: Report,
): void {
  if (kind === "special")
    refuse("tree.special-file", `${showPath(path)} is no file: a device, a FIFO or a socket.`);
  if (kind === "file" && (mode & SETUID_OR_SETGID) !== 0) {
    const what = `${showPath(path)} has a setuid or setgid bit.`;
    refuse("tree.special-file", what, "Take it away with `chmod a-s`.");
  }
  if (kind === "link" && !staysInside(target, segments.length - 1)) {
    const what = `${showPath(path)} is a link to ${showPath(target)}, which may lead out of the source.`;
    refuse("tree.link", what, NARROW);
  }
}

/**
 * Up only at the beginning and no further than the root: each step down then leads to a folder, or to another link of
 * which the same is true, so that no chain of them leads out.
 */
function staysInside(target: string, folders: number): boolean {
  if (target === "" || target.startsWith("/") || /[\\\x00-\x1f\x7f]/.test(target)) return false;
  if (Buffer.byteLength(target) > MAX_TARGET_BYTES) return false;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const down = steps.findIndex((step) => step !== "..");
  const ups = down === -1 ? steps.length : down;
  return ups <= folders && !steps.slice(ups).includes("..");
}

const MAX_TARGET_BYTES = 1024;

/** What a file system that ignores case and Unicode forms makes of it: both ways, since `ß` is `SS` and `ſ` is `S`. */
function foldPath(path: string): string {
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

interface TreeFile {
  readonly executable: boolean;
  /** Permission bits, where there are any. */
  readonly mode?: number;
  /** As announced; neither more nor fewer bytes are taken. */
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Paths are below the folder, with `/`. Everything throws `RefusedTree` for what may not be. */
interface TreeWriter {
  addFolder(path: string): void;
  addFile(path: string, file: TreeFile): Promise<void>;
  /** A file whose content is there as a whole. */
  addBytes(path: string, executable: boolean, bytes: Uint8Array): void;
  addLink(path: string, target: string): void;
  /** Makes the links; gives what is worth knowing of the tree, none of it an error. */
  finish(): readonly Diagnostic[];
}

const FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createTreeWriter(folder: string, limits: SourceLimits): TreeWriter {
  const check = startEntryCheck(folder, limits);
  const folders = new Set<string>();
  const links: { readonly file: string; readonly target: string }[] = [];
  const remarks: Diagnostic[] = [];

  /** The place of an entry that may be written, in a folder that is there. */
  const admit = (entry: FetchedEntry): string => {
    const found = check(entry);
    const wrong = found.find(({ severity }) => severity === "error");
    if (wrong !== undefined) {
      throw new RefusedTree(wrong.code === "tree.limit" ? "source.limited" : "source.unsafe", wrong.message);
    }
    remarks.push(...found);
    const segments = entry.path.split("/").filter((segment) => segment !== ".");
    makeFolders(entry.kind === "folder" ? segments : segments.slice(0, -1));
    return join(folder, ...segments);
  };
  const makeFolders = (segments: readonly string[]): void => {
    for (let length = 1; length <= segments.length; length++) {
      const path = segments.slice(0, length).join("/");
      if (folders.has(path)) continue;
      folders.add(path);
      if (folders.size > limits.files * MAX_ENTRIES_PER_FILE) {
        throw limited(`It has more than ${folders.size - 1} folders.`);
      }
      mkdirSync(join(folder, path), { mode: 0o755 });
    }
  };

  return {
    addFolder: (path) => void admit({ path, kind: "folder", bytes: 0 }),
    async addFile(path, { executable, mode = 0, size, content }) {
      const file = admit({ path, kind: "file", bytes: size });
      if ((mode & SETUID_OR_SETGID) !== 0) {
        const message = `${showPath(path)} has a setuid or setgid bit at its source; it is not taken over.`;
        remarks.push({ code: "tree.mode-dropped", severity: "warning", path: join(folder, path), message });
      }
      const written = await writeNew(file, executable, content, size);
      if (written === size) return;
      throw damaged(
        `${showPath(path)} has ${written > size ? "more" : "fewer"} bytes than the ${size} it announces.`,
      );
    },
    addBytes(path, executable, bytes) {
      const file = admit({ path, kind: "file", bytes: bytes.length });
      writeFileSync(file, bytes, { flag: "wx", mode: modeOf(executable) });
    },
    addLink(path, target) {
      links.push({ file: admit({ path, kind: "link", bytes: 0, target }), target });
    },
    finish() {
      for (const { file, target } of links) symlinkSync(target, file);
      return remarks;
    },
  };
}

/** How many bytes there were, of which not more than `size` are written. */
async function writeNew(
  file: string,
  executable: boolean,
  content: Parameters<typeof writeExactly>[1],
  size: number,
): Promise<number> {
  const descriptor = openSync(file, FILE_FLAGS, modeOf(executable));
  try {
    return await writeExactly(descriptor, content, size);
  } finally {
    closeSync(descriptor);
  }
}

function modeOf(executable: boolean): number {
  return executable ? 0o755 : 0o644;
}

/** How many bytes there are; no more than `size` of them are written. */
async function writeExactly(descriptor: number, content: TreeFile["content"], size: number): Promise<number> {
  let written = 0;
  for await (const chunk of content) {
    written += chunk.length;
    if (written > size) break;
    for (let done = 0; done < chunk.length; ) done += writeSync(descriptor, chunk, done);
  }
  return written;
}

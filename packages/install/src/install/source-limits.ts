/**
 * What a source may contain and how much, checked entry by entry before anything is written: names that mean the same
 * everywhere and have no hidden characters, links that stay inside, only plain files, and bounded amounts. The same
 * rules for archives, repositories and folders; and the writer that follows them: only into an empty folder, every file
 * new, links last, when no file can follow them anymore, and only the executable bit of modes.
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
  /** For all files together; a download may have as many bytes. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Of nested folders. */
  readonly depth: number;
  /** For one path, in UTF-8. */
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

/** Files and folders; also limits a tree of only folders. */
export const MAX_ENTRIES_PER_FILE: number = 4;

/** Problems of a folder to be installed; with errors it must not be. Follows no links. */
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
    if (found.some(({ code }) => code === "tree.limit")) break; // What follows exceeds the limit as well.
  }
  return found;
}

export interface FetchedEntry {
  /** Inside the source's root, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "special";
  /** For a file. */
  readonly bytes: number;
  /** For a link. */
  readonly target?: string | undefined;
  /** Permission bits, if any. */
  readonly mode?: number;
}

type Known = Pick<FetchedEntry, "path" | "kind">;

type Report = (code: DiagnosticCode, message: string, hint?: string) => void;

const NARROW = "Name the path of one skill in the address, so that only that is fetched.";
const SETUID_OR_SETGID = 0o6000;
/** How Windows and macOS may spell it. */
const GIT_FOLDER = /^(?:\.git|git~1)[. ]*(?::.*)?$/i;
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;
const NOT_ON_WINDOWS = /[<>:"|?*]|[. ]$/;

/** Takes the entries of one source in any order; returns what is wrong with each. */
export function startEntryCheck(
  folder: string,
  limits: SourceLimits,
): (entry: FetchedEntry) => readonly Diagnostic[] {
  /** Keyed by how a file system that ignores case and Unicode forms sees a path. */
  const known = new Map<string, Known>();
  let lastFolder = "";
  let files = 0;
  let bytes = 0;

  const claim = (path: string, kind: Known["kind"], report: Report): void => {
    const folded = foldPath(path);
    const there = known.get(folded);
    if (there === undefined) known.set(folded, { path, kind });
    else if (there.path !== path) {
      const both = `${showPath(there.path)} and ${showPath(path)}`;
      const what = `${both} are the same name on systems that ignore letter case or Unicode forms.`;
      report("tree.twins", what, NARROW);
    } else if (there.kind !== "folder" || kind !== "folder") {
      report("tree.name", `${showPath(path)} appears twice: as a ${there.kind} and as a ${kind}.`);
    }
  };
  const count = (entry: FetchedEntry, report: Report): void => {
    if (entry.kind !== "folder") files += 1;
    bytes += entry.bytes;
    if (files > limits.files) report("tree.limit", `It has more than ${limits.files} files.`, NARROW);
    if (entry.bytes > limits.fileBytes) {
      const what = `${showPath(entry.path)} has ${entry.bytes} bytes; the limit is ${limits.fileBytes} bytes.`;
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
    const above = segments.slice(0, -1).join("/");
    // Entries of a folder are usually neighbors.
    for (let length = 1; above !== lastFolder && length < segments.length; length++) {
      claim(segments.slice(0, length).join("/"), "folder", refuse);
    }
    lastFolder = above;
    claim(segments.join("/"), entry.kind, refuse);
    checkKind(entry, segments, refuse);
    return found;
  };
}

/** Without segments: it is refused, and nothing more can be said about it. */
function checkPath(path: string, limits: SourceLimits, refuse: Report): readonly string[] {
  const checked = checkContainedPath(path);
  if (!checked.ok) {
    refuse("tree.name", `It contains an invalid name: ${checked.message}`);
    return [];
  }
  const { segments } = checked;
  if (segments.length > limits.depth) {
    const depth = segments.length;
    refuse("tree.limit", `${showPath(path)} is ${depth} folders deep; the limit is ${limits.depth}.`);
    return [];
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > limits.pathBytes) {
    refuse(
      "tree.limit",
      `The path ${showPath(path)} has ${bytes} bytes; the limit is ${limits.pathBytes} bytes.`,
    );
    return [];
  }
  return segments;
}

function checkName(name: string, path: string, refuse: Report, warn: Report): void {
  const visible = takeOutInvisible(name);
  if (visible.hidden.length > 0 || /[\x80-\x9f\u2028\u2029]/.test(name)) {
    refuse("tree.name", `The name ${showPath(path)} contains invisible characters.`);
  }
  if (GIT_FOLDER.test(visible.text)) {
    refuse("tree.name", `${showPath(path)} would be a git folder, which can make git run programs.`);
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
    refuse("tree.special-file", `${showPath(path)} is not a file, but a device, a FIFO or a socket.`);
  if (kind === "file" && (mode & SETUID_OR_SETGID) !== 0) {
    const what = `${showPath(path)} has a setuid or setgid bit.`;
    refuse("tree.special-file", what, "Remove it with `chmod a-s`.");
  }
  if (kind === "link" && !staysInside(target, segments.length - 1)) {
    const what = `${showPath(path)} is a link to ${showPath(target)}, which may point outside the source.`;
    refuse("tree.link", what, NARROW);
  }
}

/**
 * `..` only at the start and no further than the root: each step down then leads to a folder, or to another link with
 * the same property, so no chain of links leads out.
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

/**
 * How a file system that ignores case and Unicode forms sees it: in both directions, since `ß` is `SS` and `ſ` is `S`.
 */
function foldPath(path: string): string {
  if (!/[^\x00-\x7f]/.test(path)) return path.toLowerCase();
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

interface TreeFile {
  readonly executable: boolean;
  /** Permission bits, if any. */
  readonly mode?: number;
  /** As declared; the number of bytes must match. */
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Paths are inside the folder, with `/`. Everything throws `RefusedTree` for what is not allowed. */
interface TreeWriter {
  addFolder(path: string): void;
  addFile(path: string, file: TreeFile): Promise<void>;
  /** A file whose content is complete. */
  addBytes(path: string, executable: boolean, bytes: Uint8Array): void;
  addLink(path: string, target: string): void;
  /** Creates the links; returns notes about the tree, without errors. */
  finish(): readonly Diagnostic[];
}

const FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createTreeWriter(folder: string, limits: SourceLimits): TreeWriter {
  const check = startEntryCheck(folder, limits);
  const folders = new Set<string>();
  const links: { readonly file: string; readonly target: string }[] = [];
  const remarks: Diagnostic[] = [];

  /** The path of an entry that may be written, in an existing folder. */
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
        const message = `${showPath(path)} has a setuid or setgid bit at its source; the bit was dropped.`;
        remarks.push({ code: "tree.mode-dropped", severity: "warning", path: join(folder, path), message });
      }
      const written = await writeNew(file, executable, content, size);
      if (written === size) return;
      throw damaged(
        `${showPath(path)} has ${written > size ? "more" : "fewer"} bytes than the ${size} it declares.`,
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

/** Returns the number of bytes, of which at most `size` are written. */
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

/** Returns the number of bytes; at most `size` are written. */
async function writeExactly(descriptor: number, content: TreeFile["content"], size: number): Promise<number> {
  let written = 0;
  for await (const chunk of content) {
    written += chunk.length;
    if (written > size) break;
    for (let done = 0; done < chunk.length; ) done += writeSync(descriptor, chunk, done);
  }
  return written;
}

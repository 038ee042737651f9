/**
 * What a source may contain and how much, checked entry by entry before anything is written: names that mean the same
 * everywhere and have no hidden characters, links that stay inside, only plain files, and bounded amounts. The same
 * rules for archives, repositories and folders. `tree-writer.ts` writes what they allow.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { checkContainedPath, listFiles, showPath } from "@metier/base/files";
import { takeOutInvisible } from "@metier/base/text";

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
export const SETUID_OR_SETGID: number = 0o6000;
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
  /** Nothing is to be said about these. */
  const cleanNames = new Set<string>();
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
    for (const segment of new Set(segments)) {
      if (cleanNames.has(segment)) continue;
      if (checkName(segment, entry.path, refuse, add("warning"))) cleanNames.add(segment);
    }
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

/** Returns whether there is nothing to say. */
function checkName(name: string, path: string, refuse: Report, warn: Report): boolean {
  const visible = takeOutInvisible(name);
  const isHidden = visible.hidden.length > 0 || /[\x80-\x9f\u2028\u2029]/.test(name);
  const isGitFolder = GIT_FOLDER.test(visible.text);
  const isUnportable = DEVICE_NAME.test(name) || NOT_ON_WINDOWS.test(name);
  if (isHidden) refuse("tree.name", `The name ${showPath(path)} contains invisible characters.`);
  if (isGitFolder)
    refuse("tree.name", `${showPath(path)} would be a git folder, which can make git run programs.`);
  if (isUnportable) warn("tree.unportable-name", `${showPath(path)} cannot exist on Windows.`);
  return !isHidden && !isGitFolder && !isUnportable;
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

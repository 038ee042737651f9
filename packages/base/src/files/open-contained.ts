/**
 * The one gate to every file in a skill's folder or in the world of a run, and the check of a path's text before it.
 * Opens the file first, then checks where the opened file is: swapping a link between check and read gains nothing.
 * Follows links that stay inside; refuses pipes, sockets and devices without waiting for them. Failures are values.
 */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import type { ResourceFault } from "../errors.ts";
import { isInside } from "../places.ts";

/**
 * A regular file (or a folder, if requested) opened for reading. The caller reads only through the descriptor, and
 * closes it.
 */
export interface ContainedFile {
  readonly descriptor: number;
  /** Stats of the open file. */
  readonly stats: BigIntStats;
  /** Its location, with links resolved. */
  readonly realPath: string;
}

export interface ContainedFault {
  readonly ok: false;
  readonly reason: ResourceFault;
  /** Names the path; starts in lower case. */
  readonly message: string;
}

export type OpenOutcome = { readonly ok: true; readonly file: ContainedFile } | ContainedFault;

/** macOS: opening fails if any part of the path is a link, not only the last one. */
const NO_FOLLOW_ANY = process.platform === "darwin" ? 0x2000_0000 : 0;
const OPEN_FLAGS =
  constants.O_RDONLY |
  NO_FOLLOW_ANY |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0);

/**
 * Opens `path` in `realFolder`, which must be a real path: it is not resolved again, so the folder itself can't be
 * swapped either. `alsoInside` lists more real folders that links may lead into.
 */
export function openContained(
  realFolder: string,
  path: string,
  alsoInside: readonly string[] = [],
): OpenOutcome {
  const checked = checkContainedPath(path);
  if (!checked.ok) return checked;
  const isAllowed = (real: string): boolean =>
    (real !== realFolder && isInside(real, realFolder)) ||
    alsoInside.some((folder) => isInside(real, folder));
  return openAllowed({
    location: join(realFolder, ...checked.segments),
    path,
    isAllowed,
    refuse: leavesFolder,
  });
}

/**
 * The same for a path from a listing of the folder that contained no link: opened without resolving it first. A link
 * that has appeared since is not followed, or is refused because of where the opened file is.
 */
export function openListed(realFolder: string, path: string): OpenOutcome {
  const checked = checkContainedPath(path);
  if (!checked.ok) return checked;
  const request: OpenRequest = {
    location: join(realFolder, ...checked.segments),
    path,
    isAllowed: (real) => real !== realFolder && isInside(real, realFolder),
    refuse: leavesFolder,
  };
  try {
    return checkOpened(openSync(request.location, OPEN_FLAGS), request.location, request);
  } catch (error) {
    return describeFailure(error, request);
  }
}

interface OpenRequest {
  /** Absolute; links in it are followed. */
  readonly location: string;
  /** How messages name it. */
  readonly path: string;
  /** Default: a regular file. */
  readonly kind?: "file" | "folder";
  /** Asked about real paths: before opening, and about the opened file. */
  isAllowed(real: string): boolean;
  /** The answer for a location that is not allowed. */
  refuse(path: string): ContainedFault;
}

/** Opens the target of `location` if the system confirms that the opened file is in an allowed place. */
export function openAllowed(request: OpenRequest): OpenOutcome {
  try {
    // Resolving first only saves opening in clear cases; the check that counts is on the open file.
    const realPath = realpathSync.native(request.location);
    if (!request.isAllowed(realPath)) return request.refuse(request.path);
    return checkOpened(openSync(realPath, OPEN_FLAGS), realPath, request);
  } catch (error) {
    return describeFailure(error, request);
  }
}

/** Opens, uses and closes. */
export function withContained<Value>(
  opened: OpenOutcome,
  use: (file: ContainedFile) => Value,
): Value | ContainedFault {
  if (!opened.ok) return opened;
  try {
    return use(opened.file);
  } finally {
    closeSync(opened.file.descriptor);
  }
}

function checkOpened(descriptor: number, realPath: string, request: OpenRequest): OpenOutcome {
  const { path, kind = "file" } = request;
  let keepOpen = false;
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    const openedPath = locateOpened(descriptor, realPath, stats) ?? "";
    if (!request.isAllowed(openedPath)) return request.refuse(path);
    if (kind === "folder" ? !stats.isDirectory() : !stats.isFile()) {
      const what = kind === "folder" ? "a folder" : "a regular file";
      return { ok: false, reason: "not-a-file", message: `${showPath(path)} is not ${what}.` };
    }
    keepOpen = true;
    return { ok: true, file: { descriptor, stats, realPath: openedPath } };
  } finally {
    if (!keepOpen) closeSync(descriptor);
  }
}

/** Where the open file is, from the system itself if possible; `undefined` if that can't be determined. */
function locateOpened(descriptor: number, realPath: string, stats: BigIntStats): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return locateByIdentity(realPath, stats); // No `/proc` here, as on macOS.
  }
}

/** The path the file was opened by, if it still contains no link and leads to the same file. */
function locateByIdentity(realPath: string, { dev, ino }: BigIntStats): string | undefined {
  try {
    const now = lstatSync(realPath, { bigint: true });
    const isSame = now.dev === dev && now.ino === ino;
    return isSame && realpathSync.native(realPath) === realPath ? realPath : undefined;
  } catch {
    return undefined; // It was moved meanwhile, so its location is unknown.
  }
}

function leavesFolder(path: string): ContainedFault {
  return {
    ok: false,
    reason: "outside",
    message: `${showPath(path)} is a link that leads out of the skill's folder.`,
  };
}

const FAULTS: Readonly<Record<string, readonly [ResourceFault, string]>> = {
  ENOENT: ["missing", "does not exist"],
  ENOTDIR: ["missing", "does not exist: part of its path is a file"],
  ENAMETOOLONG: ["invalid", "is too long"],
  ENXIO: ["not-a-file", "is not a regular file"],
  EOPNOTSUPP: ["not-a-file", "is not a regular file"],
  EISDIR: ["not-a-file", "is a folder"],
  EACCES: ["denied", "can't be read: permission denied"],
  EPERM: ["denied", "can't be read: permission denied"],
};

function describeFailure(error: unknown, { path, refuse }: OpenRequest): ContainedFault {
  const { code = "unknown fault", syscall } = error as NodeJS.ErrnoException;
  // A link in the resolved path appeared after resolving; before that, a link error means a loop.
  if (code === "ELOOP" && syscall === "open") return refuse(path);
  const circular = ["missing", "does not exist: its links form a loop"] as const;
  const refused = ["denied", `can't be read: the system refused (${code})`] as const;
  const [reason, what] = code === "ELOOP" ? circular : (FAULTS[code] ?? refused);
  return { ok: false, reason, message: `${showPath(path)} ${what}.` };
}

/* Paths and names from others: contained in a folder or refused; and folder names made from them. */

type ContainedPath =
  /** Without `.` segments, at least one segment. */
  | { readonly ok: true; readonly path: string; readonly segments: readonly string[] }
  | {
      readonly ok: false;
      readonly reason: ResourceFault & ("invalid" | "outside");
      readonly message: string;
    };

const MAX_PATH_BYTES = 4096;
const MAX_SEGMENT_BYTES = 255;
const MAX_SHOWN = 120;

/**
 * Nothing here decodes `%`, but code that passes a path on might: encoded dots, separators, NUL, `%`, overlong forms.
 */
const ENCODED = /%(?:2e|2f|5c|00|25|u[0-9a-f]{4}|c[01]|e0%80|f0%80)/i;
const CONTROL = /[\x00-\x1f\x7f]/;
const DRIVE = /^[a-z]:/i;
/** Windows drops dots and spaces at the end of a name, so `.. ` and `...` may mean `..` there. */
const ONLY_DOTS_AND_BLANKS = /^[. ]+$/;

/** Checks a path from a model, a skill or a caller. `/` separates; a leading `./` is accepted. */
export function checkContainedPath(path: unknown): ContainedPath {
  if (typeof path !== "string")
    return invalid(`a path must be text, not ${path === null ? "null" : typeof path}`);
  if (path === "") return invalid("the path is empty");
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    return invalid(`the path ${showPath(path)} has ${bytes} bytes; the limit is ${MAX_PATH_BYTES} bytes`);
  }
  if (!path.isWellFormed()) return invalid(`the path ${showPath(path)} is not well-formed Unicode`);
  if (CONTROL.test(path)) return invalid(`the path ${showPath(path)} has a control character`);
  if (path.startsWith("/") || path.startsWith("\\") || DRIVE.test(path)) {
    return outside(`the path ${showPath(path)} is absolute; paths start at the skill's folder`);
  }
  if (path.includes("\\"))
    return invalid(`the path ${showPath(path)} has a backslash; separate segments with \`/\``);
  if (ENCODED.test(path))
    return invalid(`the path ${showPath(path)} is percent-encoded; write it without encoding`);
  return checkSegments(path);
}

function checkSegments(path: string): ContainedPath {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === ".") continue;
    if (segment === "") return invalid(`the path ${showPath(path)} has an empty segment`);
    if (ONLY_DOTS_AND_BLANKS.test(segment)) {
      return outside(
        `the path ${showPath(path)} goes up with \`${segment}\`; paths stay in the skill's folder`,
      );
    }
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
      return invalid(`the path ${showPath(path)} has a name longer than ${MAX_SEGMENT_BYTES} bytes`);
    }
    segments.push(segment);
  }
  if (segments.length === 0)
    return invalid(`the path ${showPath(path)} names the folder itself, not a file in it`);
  return { ok: true, path: segments.join("/"), segments };
}

/** A path for a message: short, on one line, nothing invisible. */
export function showPath(path: string): string {
  const cut = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path;
  const plain = cut.replace(/[\p{C}\p{Zl}\p{Zp}`]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return `\`${plain}\``;
}

function invalid(message: string): ContainedPath {
  return { ok: false, reason: "invalid", message: `${message}.` };
}

function outside(message: string): ContainedPath {
  return { ok: false, reason: "outside", message: `${message}.` };
}

/** Without `@`, so that nobody can choose a name that stands for another. */
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** A plain name stays as it is; any other gets a digest of itself. */
export function folderName(name: string): string {
  return PLAIN.test(name) ? name : distinctName(name, name);
}

/** A name made unique by a digest of what it stands for. */
export function distinctName(name: string, meaning: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
  const digest = createHash("sha256").update(meaning).digest("hex");
  return `${plain.slice(0, 40)}@${digest.slice(0, 16)}`;
}

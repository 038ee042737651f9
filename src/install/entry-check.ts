/**
 * What may be in a source, entry by entry and before anything is written: names that mean the same everywhere and show
 * what they are, links that stay inside, plain files only, and not too much of anything. The one rule book for archives,
 * repositories and folders.
 */
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { takeOutInvisible } from "../foundation/hidden-characters.ts";
import { checkContainedPath, showPath } from "../host/contained-path.ts";
import type { SourceLimits } from "./source-limits.ts";

export interface SourceEntry {
  /** Below the source's root, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "special";
  /** Of a file. */
  readonly bytes: number;
  /** Of a link. */
  readonly target?: string;
  /** Permission bits, where there are any. */
  readonly mode?: number;
}

/** Takes the entries of one source, in any order; gives what is wrong with each. */
export type EntryCheck = (entry: SourceEntry) => readonly Diagnostic[];

interface Known {
  readonly path: string;
  readonly kind: SourceEntry["kind"];
}

type Report = (code: DiagnosticCode, message: string, hint?: string) => void;

const NARROW = "Name the path of one skill in the address, so that the rest is not fetched.";
export const SETUID_OR_SETGID = 0o6000;
/** How Windows and macOS may spell it. */
const GIT_FOLDER = /^(?:\.git|git~1)[. ]*(?::.*)?$/i;
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;
const NOT_ON_WINDOWS = /[<>:"|?*]|[. ]$/;

export function startEntryCheck(folder: string, limits: SourceLimits): EntryCheck {
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
      report(
        "tree.twins",
        `${both} are one name where letter case or Unicode forms make no difference.`,
        NARROW,
      );
    } else if (there.kind !== "folder" || kind !== "folder") {
      report("tree.name", `${showPath(path)} is there twice: as a ${there.kind} and as a ${kind}.`);
    }
  };
  const count = (entry: SourceEntry, report: Report): void => {
    if (entry.kind !== "folder") files += 1;
    bytes += entry.bytes;
    if (files > limits.files) report("tree.limit", `It has more than ${limits.files} files.`, NARROW);
    if (entry.bytes > limits.fileBytes) {
      report(
        "tree.limit",
        `${showPath(entry.path)} has ${entry.bytes} bytes; ${limits.fileBytes} are allowed.`,
      );
    }
    if (bytes > limits.bytes) report("tree.limit", `It has more than ${limits.bytes} bytes.`, NARROW);
  };

  return (entry) => {
    const found: Diagnostic[] = [];
    const add = (severity: Diagnostic["severity"]): Report => {
      return (code, message, hint) =>
        found.push({ code, severity, message, path: join(folder, entry.path), ...(hint && { hint }) });
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
    refuse(
      "tree.limit",
      `${showPath(path)} lies ${segments.length} folders deep; ${limits.depth} are allowed.`,
    );
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
  { path, kind, mode = 0, target = "" }: SourceEntry,
  segments: readonly string[],
  refuse: Report,
): void {
  if (kind === "special")
    refuse("tree.special-file", `${showPath(path)} is no file: a device, a FIFO or a socket.`);
  if (kind === "file" && (mode & SETUID_OR_SETGID) !== 0) {
    refuse(
      "tree.special-file",
      `${showPath(path)} has a setuid or setgid bit.`,
      "Take it away with `chmod a-s`.",
    );
  }
  if (kind === "link" && !staysInside(target, segments.length - 1)) {
    refuse(
      "tree.link",
      `${showPath(path)} is a link to ${showPath(target)}, which may lead out of the source.`,
      NARROW,
    );
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

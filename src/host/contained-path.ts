/**
 * The lexical half of the one path gate: which paths may name a file below a skill's folder at all. Touches no disk;
 * what such a path leads to is checked on the opened file (`open-contained.ts`).
 */
import type { ResourceFault } from "../foundation/errors.ts";

export type ContainedPath =
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

/** Nobody here decodes `%`, but whoever passes a path on might: encoded dots, separators, NUL, `%`, overlong forms. */
const ENCODED = /%(?:2e|2f|5c|00|25|u[0-9a-f]{4}|c[01]|e0%80|f0%80)/i;
const CONTROL = /[\x00-\x1f\x7f]/;
const DRIVE = /^[a-z]:/i;
/** Windows drops dots and blanks at the end of a name, so `.. ` and `...` may mean `..` there. */
const ONLY_DOTS_AND_BLANKS = /^[. ]+$/;

/** Checks a path that a model, a skill or a caller named. `/` separates; a leading `./` is accepted. */
export function checkContainedPath(path: unknown): ContainedPath {
  if (typeof path !== "string")
    return invalid(`a path is a text, not ${path === null ? "null" : typeof path}`);
  const shown = showPath(path);
  if (path === "") return invalid("the path is empty");
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    return invalid(`the path ${shown} has ${bytes} bytes; at most ${MAX_PATH_BYTES} are allowed`);
  }
  if (!path.isWellFormed()) return invalid(`the path ${shown} is not well-formed Unicode`);
  if (CONTROL.test(path)) return invalid(`the path ${shown} has a control character`);
  if (path.startsWith("/") || path.startsWith("\\") || DRIVE.test(path)) {
    return outside(`the path ${shown} is absolute; paths start at the skill's folder`);
  }
  if (path.includes("\\"))
    return invalid(`the path ${shown} has a backslash; segments are separated by \`/\``);
  if (ENCODED.test(path)) return invalid(`the path ${shown} is percent-encoded; write it plainly`);
  return checkSegments(path, shown);
}

function checkSegments(path: string, shown: string): ContainedPath {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === ".") continue;
    if (segment === "") return invalid(`the path ${shown} has an empty segment`);
    if (ONLY_DOTS_AND_BLANKS.test(segment)) {
      return outside(`the path ${shown} goes up with \`${segment}\`; paths stay in the skill's folder`);
    }
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
      return invalid(`the path ${shown} has a name of more than ${MAX_SEGMENT_BYTES} bytes`);
    }
    segments.push(segment);
  }
  if (segments.length === 0) return invalid(`the path ${shown} names the folder itself, not a file in it`);
  return { ok: true, path: segments.join("/"), segments };
}

/** A path as it stands in a message: short, on one line, nothing invisible. */
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

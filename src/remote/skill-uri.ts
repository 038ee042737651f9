/**
 * The URIs by which an MCP server names skills and their files, taken apart as they are written: nothing is resolved or
 * normalised, so what reads like a way out of the skill is refused instead of followed.
 */
import { checkContainedPath, showPath } from "../host/contained-path.ts";

export interface SkillUri {
  /** Of the skill's folder: the URI without `/SKILL.md`. */
  readonly root: string;
  /** The last segment of that. */
  readonly name: string;
}

export interface UriFault {
  /** The end of a sentence. */
  readonly fault: string;
}

/** In characters. */
export const MAX_URI_LENGTH = 4096;
const SKILL_FILE = "/SKILL.md";
/** A scheme, an authority that is no more than the first segment, and what RFC 3986 lets stand in a path. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/((?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})+)$/i;

export function readSkillUri(uri: string): SkillUri | UriFault {
  const path = pathOfUri(uri);
  if (typeof path !== "string") return path;
  if (!uri.endsWith(SKILL_FILE))
    return { fault: `its URI ${showPath(uri)} does not end with \`${SKILL_FILE}\`` };
  const segments = readSegments(path.slice(0, -SKILL_FILE.length));
  if (segments === undefined) {
    return { fault: `its URI ${showPath(uri)} has an empty segment, or one that leads elsewhere` };
  }
  return { root: uri.slice(0, -SKILL_FILE.length), name: segments.at(-1) ?? "" };
}

/** Below the skill's folder, decoded: what the file is called on disk. */
export function pathInSkill(root: string, uri: string): { readonly path: string } | UriFault {
  const whole = pathOfUri(uri);
  if (typeof whole !== "string") return whole;
  if (!uri.startsWith(`${root}/`)) {
    return { fault: `the file ${showPath(uri)} is outside the skill's folder ${showPath(root)}` };
  }
  const path = readSegments(uri.slice(root.length + 1))?.join("/");
  const checked = path === undefined ? undefined : checkContainedPath(path);
  if (!checked?.ok || checked.path !== path) {
    const why = checked?.ok === false ? `: ${checked.message.replace(/\.$/, "")}` : "";
    return { fault: `the file ${showPath(uri)} has a path that may lead out of the skill's folder${why}` };
  }
  return { path };
}

function pathOfUri(uri: string): string | UriFault {
  const [, path] = (uri.length <= MAX_URI_LENGTH && URI.exec(uri)) || [];
  return (
    path ?? { fault: `${showPath(uri)} is no URI of the form \`scheme://path\` without query and fragment` }
  );
}

/** Decoded; `undefined` where one is empty, goes up, or hides a separator. */
function readSegments(path: string): readonly string[] | undefined {
  try {
    const segments = path.split("/").map(decodeURIComponent);
    return segments.every((segment) => !/^(?:|\.|\.\.)$|[/\\\0]/.test(segment)) ? segments : undefined;
  } catch {
    return undefined; // Not UTF-8.
  }
}

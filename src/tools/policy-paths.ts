/**
 * Path scopes of the file tools: `Read(./src/**)`. A relative pattern starts at the working directory, one without `/`
 * is about a file's name. An allowing rule takes the narrow reading: inside the working directory, for the path as
 * written and for where it really leads. A denying one takes the wide reading.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "../host/places.ts";
import { compilePathGlob } from "./files/path-glob.ts";

export interface PathScope {
  /** Certainly meant. */
  covers(path: string): boolean;
  /** Perhaps meant: by another spelling, through a link, or as something below. `isFolder`: what lies in it counts too. */
  mayCover(path: string, isFolder: boolean): boolean;
  /** The more of it is literal, the more specific it is. */
  readonly weight: number;
}

export type PathScopeReading =
  | { readonly ok: true; readonly scope: PathScope }
  | { readonly ok: false; readonly reason: string };

type Matcher = (path: string) => boolean;

const GLOB_CHARACTER = /[*?[{\\]/;

export function readPathScope(written: string, cwd: string): PathScopeReading {
  const pattern = written.replace(/^\/\//, "/").replace(/\/$/, "/**");
  const fault = checkPattern(pattern);
  if (fault !== undefined) return { ok: false, reason: fault };
  const segments = pattern.split("/");
  const firstGlob = segments.findIndex((segment) => GLOB_CHARACTER.test(segment));
  const literal = firstGlob === -1 ? segments : segments.slice(0, firstGlob);
  const start = resolve(cwd, literal.join("/") || (pattern.startsWith("/") ? "/" : "."));
  const isName = !pattern.includes("/");
  const narrow = matcherOf(pattern, cwd);
  const wide = matcherOf(foldCase(pattern), foldCase(cwd));
  const wideFromHere = pattern.startsWith("/") ? matcherOf(foldCase(`.${pattern}`), foldCase(cwd)) : wide;
  return {
    ok: true,
    scope: {
      weight: literal.filter((segment) => segment !== "" && segment !== ".").length,
      covers(path) {
        const asked = resolve(cwd, path);
        return narrow(asked) && narrow(realTarget(asked));
      },
      mayCover(path, isFolder) {
        const asked = resolve(cwd, path);
        const target = realTarget(asked);
        const real = realTarget(start);
        if (isFolder && (isName || isInside(start, asked) || isInside(real, target))) return true;
        // The scope begins at a link: whatever lies where that leads.
        if (real !== start && isInside(target, real)) return true;
        return [asked, target].some((candidate) =>
          withAncestors(foldCase(candidate)).some((step) =>
            isName ? compilePathGlob(foldCase(pattern))(step) : wide(step) || wideFromHere(step),
          ),
        );
      },
    },
  };
}

function checkPattern(pattern: string): string | undefined {
  if (pattern.startsWith("~")) return "home folders are no part of what a run sees";
  if (pattern.startsWith("!")) return "a path pattern cannot be negated";
  if (pattern.includes("\\")) return "a path pattern has no escapes";
  if (pattern.split("/").includes("..")) return "a path pattern cannot go up with `..`";
  return undefined;
}

/** The pattern and the paths get the same first segment, so that `./a.md` is that file and not every `a.md`. */
function matcherOf(pattern: string, cwd: string): Matcher {
  if (pattern.startsWith("/")) {
    const matches = compilePathGlob(`root${pattern}`);
    return (path) => matches(`root${path}`);
  }
  const isName = !pattern.includes("/");
  const matches = compilePathGlob(isName ? pattern : `here/${pattern.replace(/^\.\//, "")}`);
  return (path) => isInside(path, cwd) && matches(`here/${relative(cwd, path)}`.replace(/\/$/, ""));
}

/** Some file systems do not tell them apart. */
function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

function withAncestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...withAncestors(above)];
}

/** Where a path leads, links resolved; what does not exist yet is taken as written below what does. */
function realTarget(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there, or not readable: then what stands above it decides.
    const above = dirname(path);
    return above === path ? path : join(realTarget(above), basename(path));
  }
}

/**
 * Globs over paths: `*.ts` in any folder, `src/*.ts`, `*.{ts,tsx}`, and `**` for any number of folders. Patterns come
 * from models, so matching takes at most pattern times path steps, and alternatives are bounded.
 */
import { compileGlob } from "../../foundation/glob-pattern.ts";

export type PathMatcher = (path: string) => boolean;

/** Whether one segment is as the pattern wants it; `undefined` stands for `**`, any number of them. */
type Segment = ((name: string) => boolean) | undefined;

const MAX_ALTERNATIVES = 64;

/** A pattern without `/` is about the name alone; one with it is about the whole path. */
export function compilePathGlob(pattern: string): PathMatcher {
  const alternatives = expandBraces(pattern.replace(/^\.?\//, "")).map((alternative) => {
    const parts = alternative.split("/").filter((part) => part !== "");
    const segments = parts.map((part) => (part === "**" ? undefined : compileGlob(part)));
    return alternative.includes("/") ? segments : [undefined, ...segments];
  });
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) => matches(segments, names));
  };
}

/** Greedy: after a mismatch only the last `**` takes one segment more. */
function matches(segments: readonly Segment[], names: readonly string[]): boolean {
  let segment = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < names.length) {
    const test = segments[segment];
    if (segment < segments.length && test === undefined) {
      star = segment++;
      starAt = at;
    } else if (test?.(names[at] ?? "")) {
      segment++;
      at++;
    } else if (star !== -1) {
      segment = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (segment < segments.length && segments[segment] === undefined) segment++;
  return segment === segments.length;
}

/** `a.{ts,tsx}` → `a.ts`, `a.tsx`. Innermost braces first; too many alternatives are taken as plain text. */
function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [braces, inner = ""] = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(next) ?? [];
    if (braces === undefined) done.push(next);
    else {
      const [before = "", after = ""] = splitAround(next, braces);
      pending.push(...inner.split(",").map((choice) => before + choice + after));
    }
    if (done.length + pending.length > MAX_ALTERNATIVES) return [pattern];
  }
  return done;
}

function splitAround(text: string, part: string): readonly [string, string] {
  const at = text.indexOf(part);
  return [text.slice(0, at), text.slice(at + part.length)];
}

/**
 * `.gitignore` files at and below a skills root. They never apply to the root itself, and rules from above it do not
 * count: a project that ignores its `.claude` folder still has the skills in it. Both the rules and the names they are
 * held against may be hostile, so they are matched step by step, never as a regular expression.
 */
import { join, relative, sep } from "node:path";
import { compileGlob } from "../foundation/glob-pattern.ts";
import { readBounded } from "../host/read-bounded.ts";

const MAX_GITIGNORE_BYTES = 64 * 1024;
const MAX_RULES = 1000;

export interface IgnoreRules {
  /** Whether the rules of this folder and those above it, up to the root, hide `path`. */
  hides(path: string, isFolder: boolean): boolean;
}

/** The rules of `folder` on top of those that already hold there. An unreadable file adds none. */
export function addGitignore(folder: string, outer: IgnoreRules | undefined): IgnoreRules | undefined {
  const file = readBounded(join(folder, ".gitignore"), MAX_GITIGNORE_BYTES);
  if (!file.ok) return outer;
  const decide = compileGitignore(file.text);
  return {
    hides(path, isFolder) {
      return decide(relative(folder, path).split(sep), isFolder) ?? outer?.hides(path, isFolder) ?? false;
    },
  };
}

interface Rule {
  readonly hides: boolean;
  readonly foldersOnly: boolean;
  /** Each matches one segment of a path; `undefined` is `**`, any number of them. */
  readonly segments: readonly (((segment: string) => boolean) | undefined)[];
}

/** Answers with the last rule's word on a path below the file's folder; `undefined` when no rule speaks of it. */
export function compileGitignore(
  text: string,
): (path: readonly string[], isFolder: boolean) => boolean | undefined {
  const rules = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line) => parseRule(line) ?? [])
    .reverse();
  return (path, isFolder) =>
    rules.find((rule) => (isFolder || !rule.foldersOnly) && matches(rule.segments, path))?.hides;
}

function parseRule(line: string): Rule | undefined {
  let pattern = line.replace(/(?<!\\) +$/, "");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const isNegated = pattern.startsWith("!");
  if (isNegated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes("/");
  const parts = (pattern.startsWith("/") ? pattern.slice(1) : pattern).split("/");
  if (parts.some((part) => part === "")) return undefined;
  const segments = parts.map((part) => (part === "**" ? undefined : compileGlob(part)));
  return { hides: !isNegated, foldersOnly, segments: isAnchored ? segments : [undefined, ...segments] };
}

/** Row by row: which beginnings of the path the rule's first segments match. At most rule times path steps. */
function matches(rule: Rule["segments"], path: readonly string[]): boolean {
  let reached: readonly boolean[] = [true, ...path.map(() => false)];
  for (const [index, test] of rule.entries()) {
    // `a/**` is everything below `a`, not `a` itself.
    const isLast = index > 0 && index === rule.length - 1;
    if (test === undefined && isLast) return reached.slice(0, -1).includes(true);
    reached = test === undefined ? reachAll(reached) : reachOne(reached, path, test);
  }
  return reached[path.length] ?? false;
}

/** `**`: from every beginning that was reached, all the longer ones. */
function reachAll(reached: readonly boolean[]): readonly boolean[] {
  const first = reached.indexOf(true);
  return reached.map((_, length) => first !== -1 && length >= first);
}

function reachOne(
  reached: readonly boolean[],
  path: readonly string[],
  test: (segment: string) => boolean,
): readonly boolean[] {
  return reached.map(
    (_, length) => length > 0 && reached[length - 1] === true && test(path[length - 1] ?? ""),
  );
}

/** Paths in tool input and answers: globs, why one was refused, and how one is printed. */
import { basename, dirname } from "node:path";
import type { ContainedFault } from "@metier/base/files";
import { compileGlob, nearestNames } from "@metier/base/text";
import { listFolder, type World } from "@metier/sandbox";
import { fault, type ToolOutput } from "../tool.ts";

/** Whether a segment matches; `undefined` stands for `**`, any number of them. */
type Segment = ((name: string) => boolean) | undefined;

const MAX_ALTERNATIVES = 64;

/**
 * `*.ts` in any folder, `src/*.ts`, `*.{ts,tsx}`, and `**` for any number of folders: a pattern without `/` matches the
 * name, one with it the whole path. Patterns come from models, so matching takes at most pattern times path steps, and
 * alternatives are limited.
 */
export function compilePathGlob(pattern: string): (path: string) => boolean {
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
    else pending.push(...inner.split(",").map((choice) => next.replace(braces, () => choice)));
    if (done.length + pending.length > MAX_ALTERNATIVES) return [pattern];
  }
  return done;
}

/** Why a path was refused, and what to do next: similar names for a missing one, the other tool for a folder. */
export function explainFault(world: World, path: string, refused: ContainedFault): ToolOutput {
  const hint = hintFor(world, path, refused);
  return fault(hint === "" ? refused.message : `${refused.message} ${hint}`);
}

function hintFor(world: World, path: string, { reason }: ContainedFault): string {
  if (reason === "missing") return suggestNames(world, path);
  if (reason === "not-a-file" && listFolder(world, path).ok) return "It is a folder: use `list_files`.";
  return "";
}

/** Only names that the run sees. */
function suggestNames(world: World, path: string): string {
  const listed = listFolder(world, dirname(path));
  const names = listed.ok ? listed.entries.map(({ name }) => name) : [];
  const near = nearestNames(basename(path), names);
  if (near.length === 0) return "Use `list_files` to see what there is.";
  return `Did you mean ${near.map((name) => `\`${printPath(name)}\``).join(" or ")}?`;
}

/** A path in an answer: on one line and without invisible characters, whatever the file's name. */
export function printPath(path: string): string {
  return path.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

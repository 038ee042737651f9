/**
 * `.gitignore` files at and below a skills root. They never apply to the root itself, and rules from above it do not
 * count: a project that ignores its `.claude` folder still has the skills in it.
 */
import { join, relative, sep } from "node:path";
import type { Ignore } from "ignore";
import { readBounded } from "../host/read-bounded.ts";

const MAX_GITIGNORE_BYTES = 64 * 1024;

export interface IgnoreRules {
  /** Whether the rules of this folder and those above it, up to the root, hide `path`. */
  hides(path: string, isFolder: boolean): boolean;
}

let createRules: (() => Ignore) | undefined;

/** The rules' library is needed only where a search meets a `.gitignore`; such a search is then made again. */
export async function loadGitignore(): Promise<void> {
  createRules ??= (await import("ignore")).default;
}

export function isGitignoreLoaded(): boolean {
  return createRules !== undefined;
}

/** The rules of `folder` on top of those that already hold there. An unreadable file adds none. */
export function addGitignore(folder: string, outer: IgnoreRules | undefined): IgnoreRules | undefined {
  const file = createRules && readBounded(join(folder, ".gitignore"), MAX_GITIGNORE_BYTES);
  if (!createRules || !file?.ok) return outer;
  const rules = createRules().add(file.text);
  return {
    hides(path, isFolder) {
      const inside = relative(folder, path).split(sep).join("/");
      const answer = rules.test(isFolder ? `${inside}/` : inside);
      if (answer.ignored) return true;
      return answer.unignored ? false : (outer?.hides(path, isFolder) ?? false);
    },
  };
}

/**
 * `.gitignore` files at and below a skills root. They never apply to the root itself, and rules from above it do not
 * count: a project that ignores its `.claude` folder still has the skills in it.
 */
import { join, relative, sep } from "node:path";
import ignore from "ignore";
import { readBounded } from "../host/read-bounded.ts";

const MAX_GITIGNORE_BYTES = 64 * 1024;

export interface IgnoreRules {
  /** Whether the rules of this folder and those above it, up to the root, hide `path`. */
  hides(path: string, isFolder: boolean): boolean;
}

/** The rules of `folder` on top of those that already hold there. An unreadable file adds none. */
export function addGitignore(folder: string, outer: IgnoreRules | undefined): IgnoreRules | undefined {
  const file = readBounded(join(folder, ".gitignore"), MAX_GITIGNORE_BYTES);
  if (!file.ok) return outer;
  const rules = ignore().add(file.text);
  return {
    hides(path, isFolder) {
      const inside = relative(folder, path).split(sep).join("/");
      const answer = rules.test(isFolder ? `${inside}/` : inside);
      if (answer.ignored) return true;
      return answer.unignored ? false : (outer?.hides(path, isFolder) ?? false);
    },
  };
}

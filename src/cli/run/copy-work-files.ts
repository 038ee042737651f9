/**
 * `--out`: what a run left in its work folder, copied to a folder of the user's. Only regular files; links stay behind, and
 * so does what other programs would obey there (`.git/hooks`, `.envrc`): a run must not act outside its sandbox later.
 */
import { chmodSync, constants, copyFileSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openContained, withContained } from "../../host/open-contained.ts";
import type { RunResult } from "../../run/run-result.ts";
import { PROTECTED_NAMES } from "../../sandbox/protected-paths.ts";

export interface CopiedFiles {
  readonly copied: readonly string[];
  /** Those that other programs would obey. */
  readonly left: readonly string[];
}

export function copyWorkFiles(workDir: string, target: string, files: RunResult["files"]): CopiedFiles {
  const left = files.map(({ path }) => path).filter(isObeyed);
  const copied = files.map(({ path }) => path).filter((path) => !isObeyed(path));
  for (const path of copied) {
    // Listed after the run had ended; checked again, since the name came from the run.
    const fault = withContained(openContained(workDir, path), ({ realPath }) => {
      const file = join(target, path);
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(realPath, file, constants.COPYFILE_FICLONE);
      chmodSync(file, statSync(realPath).mode & 0o777); // Without setuid and setgid.
    });
    if (fault !== undefined) throw new Error(fault.message);
  }
  return { copied, left };
}

const OBEYED: ReadonlySet<string> = new Set([".git", ...PROTECTED_NAMES]);

/** Also below other folders, and in any letter case: some file systems ignore it. */
function isObeyed(path: string): boolean {
  return path.split("/").some((name) => OBEYED.has(name.toLowerCase()));
}

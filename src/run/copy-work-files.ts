/**
 * `--out`: what a run left in its work folder, copied to a folder of the user's. Only regular files; links stay behind, and
 * so does what other programs would obey there (`.git/hooks`, `.envrc`): a run must not act outside its sandbox later.
 */
import { chmodSync, constants, copyFileSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { openContained, withContained } from "../host/open-contained.ts";
import { PROTECTED_NAMES } from "../sandbox/protected-paths.ts";
import type { RunResult } from "./run-result.ts";

export interface CopiedFiles {
  readonly copied: readonly string[];
  /** Those that other programs would obey. */
  readonly left: readonly string[];
  /** One for all that could not be copied. */
  readonly diagnostics: readonly Diagnostic[];
}

export function copyWorkFiles(workDir: string, target: string, files: RunResult["files"]): CopiedFiles {
  const left = files.map(({ path }) => path).filter(isObeyed);
  const copied: string[] = [];
  const faults: string[] = [];
  for (const { path } of files) {
    if (isObeyed(path)) continue;
    const fault = copyFile(workDir, path, join(target, path));
    if (fault === undefined) copied.push(path);
    else faults.push(`\`${path}\`: ${fault}`);
  }
  return { copied, left, diagnostics: faults.length > 0 ? [reportFaults(faults, workDir)] : [] };
}

/** Why it could not be done. Listed after the run had ended; checked again, since the name came from the run. */
function copyFile(workDir: string, path: string, file: string): string | undefined {
  try {
    const fault = withContained(openContained(workDir, path), ({ realPath }) => {
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(realPath, file, constants.COPYFILE_FICLONE);
      chmodSync(file, statSync(realPath).mode & 0o777); // Without setuid and setgid.
    });
    return fault?.message;
  } catch (fault) {
    return (fault as Error).message;
  }
}

function reportFaults(faults: readonly string[], workDir: string): Diagnostic {
  const files = faults.length === 1 ? "A file" : `${faults.length} files`;
  return {
    code: "run.copy-failed",
    severity: "error",
    path: workDir,
    message: `${files} could not be copied. ${faults[0]}`,
    hint: "The work folder itself is kept: name another folder for `--out`, or take them from there.",
  };
}

const OBEYED: ReadonlySet<string> = new Set([".git", ...PROTECTED_NAMES]);

/** Also below other folders, and in any letter case: some file systems ignore it. */
function isObeyed(path: string): boolean {
  return path.split("/").some((name) => OBEYED.has(name.toLowerCase()));
}

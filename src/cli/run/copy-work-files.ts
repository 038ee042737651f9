/** `--out`: what a run left in its work folder, copied to a folder of the user's. Only regular files; links stay behind. */
import { constants, copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openContained, withContained } from "../../host/open-contained.ts";
import type { RunResult } from "../../run/run-result.ts";

export function copyWorkFiles(workDir: string, target: string, files: RunResult["files"]): void {
  for (const { path } of files) {
    // Listed after the run had ended; checked again, since the name came from the run.
    const copied = withContained(openContained(workDir, path), ({ realPath }) => {
      const file = join(target, path);
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(realPath, file, constants.COPYFILE_FICLONE);
    });
    if (copied !== undefined) throw new Error(copied.message);
  }
}

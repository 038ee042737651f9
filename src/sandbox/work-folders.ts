/** Whether a command keeps more in its own folders than it may, before and while it runs. */
import { statSync } from "node:fs";
import { folderSize } from "./folder-size.ts";
import { findUnnamedFiles, type UnnamedFile } from "./unnamed-files.ts";
import type { World } from "./world.ts";

/** The folders that are a run's own. What else it can write to is the user's, and was full or empty before. */
export function ownFolders({ workDir, dataDir }: World): readonly string[] {
  return dataDir === undefined ? [workDir] : [workDir, dataDir];
}

/** The first that is too full, in one sentence. `pids` hold files open that may have no name any more. */
export async function whyTooFull(
  folders: readonly string[],
  maxBytes: number,
  pids: readonly number[] = [],
): Promise<string | undefined> {
  for (const folder of folders) {
    const { bytes, unknown } = await folderSize(folder);
    if (unknown !== undefined) return `\`${folder}\` ${unknown}, so its size cannot be held to a limit.`;
    const removed = sumOnDisk(findUnnamedFiles(pids), folder);
    if (bytes + removed > maxBytes) {
      return `\`${folder}\` holds ${bytes + removed} bytes; at most ${maxBytes} are allowed (\`sandbox.work-mb\`).`;
    }
  }
  return undefined;
}

/** Removed files could have been in any folder of the same disk. */
function sumOnDisk(files: readonly UnnamedFile[], folder: string): number {
  if (files.length === 0) return 0;
  const disk = statSync(folder, { throwIfNoEntry: false })?.dev;
  return files.reduce((sum, { device, bytes }) => (device === disk ? sum + bytes : sum), 0);
}

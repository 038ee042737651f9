/** Removes a folder with everything in it, also one in which a program has closed folders to everyone. Follows no link. */
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!isRefused(error)) throw error;
    openFolders(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function isRefused(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** To their owner, who alone can do so. */
function openFolders(root: string): void {
  const pending = [root];
  for (const folder of pending) {
    chmodSync(folder, 0o700);
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) pending.push(join(folder, entry.name));
  }
}

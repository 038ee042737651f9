/**
 * Says when something below one of some folders changed, after a pause in which nothing did. A folder that does not
 * exist yet is watched through the nearest one above it that does.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

const PAUSE_MS = 150;
/** A stream of changes must not put off the news for ever. */
const LONGEST_PAUSE_MS = 2000;

/** The answer ends the watch; after it nothing is said any more. */
export function watchFolders(
  folders: readonly string[],
  onChange: () => void | Promise<void>,
  pauseMs: number = PAUSE_MS,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let firstChange = 0;
  let ended = false;

  const tell = (): void => {
    timer = undefined;
    if (ended) return;
    arm(); // Folders may have come into being, or gone.
    void onChange();
  };
  const notice = (): void => {
    const now = Date.now();
    if (timer === undefined) firstChange = now;
    clearTimeout(timer);
    timer = setTimeout(tell, now - firstChange > LONGEST_PAUSE_MS ? 0 : pauseMs);
  };
  const arm = (): void => {
    const wanted = new Map(folders.map(placeToWatch).map((place) => [place.path, place]));
    for (const [path, watcher] of watchers) {
      if (wanted.has(path) && existsSync(path)) continue;
      watcher.close();
      watchers.delete(path);
    }
    for (const { path, recursive } of wanted.values()) {
      if (!watchers.has(path)) addWatcher(path, recursive);
    }
  };
  const addWatcher = (path: string, recursive: boolean): void => {
    try {
      const watcher = watch(path, { recursive, persistent: true }, notice);
      // A watched folder that goes away ends its watcher; the next change above it arms a new one.
      watcher.on("error", () => {
        watchers.delete(path);
        watcher.close();
        notice();
      });
      watchers.set(path, watcher);
    } catch {
      // Not to be watched (no permission, out of watches): changes there are seen at the next reload.
    }
  };

  arm();
  return () => {
    ended = true;
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
}

function placeToWatch(folder: string): { readonly path: string; readonly recursive: boolean } {
  if (existsSync(folder)) return { path: folder, recursive: true };
  let above = dirname(folder);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  return { path: above, recursive: false };
}

/**
 * Reports changes in some folders or files, after a pause without further changes. What doesn't exist yet is watched
 * through its nearest existing parent folder.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

const PAUSE_MS = 150;
/** A stream of changes must not delay the report forever. */
const LONGEST_PAUSE_MS = 2000;

interface WatchOptions {
  readonly files?: readonly string[];
  readonly pauseMs?: number;
}

interface WatchedPlace {
  readonly path: string;
  readonly recursive: boolean;
  /**
   * Only this entry of the folder counts. Files are watched this way, because a file's own watcher would miss a
   * replacement.
   */
  readonly only?: string;
}

/**
 * Asks for the folders again after each change. Returns a function that ends the watch; nothing is reported after it.
 */
export function watchFolders(
  folders: () => readonly string[],
  onChange: () => void | Promise<void>,
  { files = [], pauseMs = PAUSE_MS }: WatchOptions = {},
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let firstChange = 0;
  let ended = false;

  const tell = (): void => {
    timer = undefined;
    if (ended) return;
    arm(); // Folders may have appeared or disappeared.
    void Promise.resolve(onChange()).finally(arm); // The caller may want others now.
  };
  const notice = (): void => {
    const now = Date.now();
    if (timer === undefined) firstChange = now;
    clearTimeout(timer);
    timer = setTimeout(tell, now - firstChange > LONGEST_PAUSE_MS ? 0 : pauseMs);
  };
  const arm = (): void => {
    if (ended) return;
    const places = [...folders().map(folderToWatch), ...files.map(fileToWatch)];
    const wanted = new Map(places.map((place) => [`${place.path}\0${place.only ?? ""}`, place]));
    for (const [key, watcher] of watchers) {
      if (existsSync(wanted.get(key)?.path ?? "")) continue;
      watcher.close();
      watchers.delete(key);
    }
    for (const [key, place] of wanted) if (!watchers.has(key)) addWatcher(key, place);
  };
  const addWatcher = (key: string, { path, recursive, only }: WatchedPlace): void => {
    try {
      const watcher = watch(path, { recursive, persistent: true }, (_event, name) => {
        if (only === undefined || name === null || name === only) notice();
      });
      // A watched folder that disappears ends its watcher; the next change above it starts a new one.
      watcher.on("error", () => {
        watchers.delete(key);
        watcher.close();
        notice();
      });
      watchers.set(key, watcher);
    } catch {
      // Can't be watched (no permission, out of watches): the next reload sees its changes.
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

function fileToWatch(file: string): WatchedPlace {
  const folder = dirname(file);
  return existsSync(folder)
    ? { path: folder, recursive: false, only: basename(file) }
    : folderToWatch(folder);
}

function folderToWatch(folder: string): WatchedPlace {
  if (existsSync(folder)) return { path: folder, recursive: true };
  let above = dirname(folder);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  return { path: above, recursive: false };
}

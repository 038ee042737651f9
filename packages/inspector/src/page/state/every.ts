/** Polls what the server doesn't report, while the page is visible. */
import { useEffect } from "preact/hooks";
import { reload } from "./answers.ts";

const PAUSE_MS = 5_000;

export function useFresh(paths: readonly (string | undefined)[]): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      for (const path of paths) if (path !== undefined) void reload(path);
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, paths);
}

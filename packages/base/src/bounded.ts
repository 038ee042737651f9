/** Keeps caches from growing without limit. */

/**
 * Drops the oldest entries until at most this many are left. To keep an entry longer, put it in again when you use it.
 */
export function dropOldest<Key>(kept: Map<Key, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}

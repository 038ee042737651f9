/** What is kept for later does not grow without end. */

/** Drops what was put in first, until at most so many are left. Whoever uses one again puts it in anew to keep it longer. */
export function dropOldest<Key>(kept: Map<Key, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}

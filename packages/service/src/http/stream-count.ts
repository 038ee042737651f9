/** How many event streams each key has open. */

export interface StreamCount {
  readonly open: number;
  /**
   * `undefined`: that would be one too many. Otherwise, a function to call when the stream ends; a second call does
   * nothing.
   */
  add(keyId: string): (() => void) | undefined;
}

export function createStreamCount(mostPerKey: number): StreamCount {
  const byKey = new Map<string, number>();
  let open = 0;
  return {
    get open() {
      return open;
    },
    add(keyId) {
      const own = byKey.get(keyId) ?? 0;
      if (own >= mostPerKey) return undefined;
      byKey.set(keyId, own + 1);
      open += 1;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        open -= 1;
        const left = (byKey.get(keyId) ?? 1) - 1;
        if (left > 0) byKey.set(keyId, left);
        else byKey.delete(keyId);
      };
    },
  };
}

/** A list that loads in parts: what is loaded so far, and the rest on request. */
import type { ApiList } from "@metier/service/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Failure } from "./answers.ts";

interface LoadedPages<Item> {
  readonly items: readonly Item[];
  /** Where the rest starts, if there is more. */
  readonly next?: string | undefined;
  readonly isLoading: boolean;
  readonly failure?: Failure | undefined;
}

export interface Pages<Item> extends LoadedPages<Item> {
  more(): void;
  /** Reloads what is shown: something in it changed. */
  again(): void;
}

const NOTHING = { items: [], isLoading: true } as const;

/** `path` contains a `?`. */
export function usePages<Item>(path: string): Pages<Item> {
  const [pages, setPages] = useState<LoadedPages<Item>>(NOTHING);
  /** The last request: answers to earlier ones come too late. */
  const last = useRef(0);
  const read = async (before: readonly Item[], after: string | undefined, count: number): Promise<void> => {
    const number = ++last.current;
    setPages((shown) => ({ ...shown, isLoading: true }));
    let items = before;
    let next = after;
    do {
      const answer = await ask<ApiList<Item>>(
        next === undefined ? path : `${path}&after=${encodeURIComponent(next)}`,
      );
      if (last.current !== number) return;
      if (!answer.ok) return setPages({ items, next, isLoading: false, failure: answer.refusal });
      items = [...items, ...answer.value.data];
      next = answer.value.next;
    } while (next !== undefined && items.length < count);
    setPages({ items, next, isLoading: false });
  };
  useEffect(() => {
    setPages(NOTHING);
    void read([], undefined, 1);
    return () => {
      last.current += 1;
    };
  }, [path]);
  return {
    ...pages,
    more: () => void read(pages.items, pages.next, pages.items.length + 1),
    again: () => void read([], undefined, pages.items.length),
  };
}

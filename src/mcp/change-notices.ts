/** Tells connected clients when the lists they were given have changed, as long as there is somebody to tell. */
import type { Metier } from "../runtime/create-metier.ts";

/** Who is told: a connection, or everybody who listens to an HTTP handler. */
export interface Listener {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
}

export interface ChangeNotices {
  /** The answer ends it. */
  add(listener: Listener): () => void;
  close(): void;
}

export interface NoticeInputs {
  readonly metier: Metier;
  /** The lists as they are now, each as a text that differs when the list does. */
  lists(): { readonly tools: string; readonly prompts: string };
  /** The new state could not be read; the old one stays. */
  onFault(fault: unknown): void;
}

export function createChangeNotices({ metier, lists, onFault }: NoticeInputs): ChangeNotices {
  const listeners = new Set<Listener>();
  let endWatch: (() => void) | undefined;
  let told = lists();
  const tell = (): void => {
    const now = lists();
    const before = told;
    told = now;
    for (const listener of listeners) {
      if (now.tools !== before.tools) listener.toolsChanged();
      if (now.prompts !== before.prompts) listener.promptsChanged();
      // Something below a skills folder has changed, so digests may have, even where the names are the same.
      listener.resourcesChanged();
    }
  };
  const end = (): void => {
    endWatch?.();
    endWatch = undefined;
  };
  return {
    add(listener) {
      listeners.add(listener);
      endWatch ??= metier.watch((outcome) => ("fault" in outcome ? onFault(outcome.fault) : tell()));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) end();
      };
    },
    close() {
      listeners.clear();
      end();
    },
  };
}

/**
 * What processes on one store tell each other, beside the store: nothing of it is kept, and whoever misses a notice looks by
 * itself after a while.
 */

export type BusNotice =
  /** Something of this run was written. */
  | { readonly kind: "run"; readonly runId: string }
  /** Lists must look at it again. */
  | { readonly kind: "list"; readonly of: "run" | "approval"; readonly id: string; readonly runId: string }
  | { readonly kind: "catalog"; readonly tenant: string }
  /** Somebody follows the text of this run: its worker sends it, for a while. */
  | { readonly kind: "watch"; readonly runId: string }
  /** What the model of this run has just written. */
  | { readonly kind: "text"; readonly runId: string; readonly text: string };

export interface NoticeBus {
  /** To all other processes; not to this one. Never waits and never fails. */
  tell(notice: BusNotice): void;
  /** Hears of each; gives what ends it. */
  onNotice(listener: (notice: BusNotice) => void): () => void;
}

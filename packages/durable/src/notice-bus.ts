/**
 * What processes on one store tell each other outside the store: nothing is kept, and whoever misses a notice checks on
 * its own after a while.
 */

export type BusNotice =
  /** Something of this run was written. */
  | { readonly kind: "run"; readonly runId: string }
  /** Lists must check it again. */
  | { readonly kind: "list"; readonly of: "run" | "approval"; readonly id: string; readonly runId: string }
  | { readonly kind: "catalog"; readonly tenant: string }
  /** Someone follows this run's text: its worker sends it, for a while. */
  | { readonly kind: "watch"; readonly runId: string }
  /** What this run's model has just written. */
  | { readonly kind: "text"; readonly runId: string; readonly text: string };

export interface NoticeBus {
  /** To all other processes, not this one. Never waits and never fails. */
  tell(notice: BusNotice): void;
  /** Receives each; returns a function that ends it. */
  onNotice(listener: (notice: BusNotice) => void): () => void;
}

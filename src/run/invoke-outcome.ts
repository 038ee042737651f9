/** What became of an invocation: text for the caller, the result of a run, or the reason why not. */
import type { PreparedInvocation, Refusal } from "../invoke/invocation.ts";
import type { RunResult } from "./run-result.ts";

export type InvokeOutcome =
  | { readonly kind: "inline"; readonly text: string; readonly prepared: PreparedInvocation }
  | { readonly kind: "run"; readonly result: RunResult }
  | { readonly kind: "refused"; readonly refusal: Refusal };

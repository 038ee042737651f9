/** What every action of `metier capability` is given, and how it takes its words. */
import { CancelledError, UsageError } from "../../foundation/errors.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { CallerFlags } from "../caller-flags.ts";
import type { CommonFlags } from "../common-flags.ts";
import type { CliContext } from "../context.ts";

export interface CapabilityFlags extends CommonFlags, CallerFlags {
  readonly all: boolean;
  readonly capability?: string;
  readonly operation?: string;
  readonly input?: string;
  readonly account?: string;
  readonly idempotencyKey?: string;
  readonly code?: string;
  readonly callbackUrl?: string;
  readonly listen: boolean;
  readonly wait: boolean;
}

export interface ActionRequest {
  readonly context: CliContext;
  readonly flags: CapabilityFlags;
  readonly metier: Metier;
  /** Behind the name of the action. */
  readonly words: readonly string[];
}

export type CapabilityAction = (request: ActionRequest) => Promise<void>;

/** Exactly as many words as there are values that no option gave; the answer has them all. */
export function takeWords<const Given extends readonly (string | undefined)[]>(
  usage: string,
  words: readonly string[],
  given: Given,
): { readonly [Index in keyof Given]: string } {
  const left = [...words];
  const taken = given.map((value) => value ?? left.shift() ?? "");
  if (left.length > 0 || taken.some((value) => value.trim() === "")) {
    throw new UsageError(`Usage: \`metier capability ${usage}\`.`, {
      hint: "`metier capability` lists ids and operations, `metier capability auth list` sign-ins.",
    });
  }
  return taken as { readonly [Index in keyof Given]: string };
}

/** What `work` answers, unless the user wants the program to end before. */
export async function untilInterrupted<Value>(
  { io }: CliContext,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const unlisten = io.onInterrupt(() => {
    const fault = new CancelledError("Cancelled.");
    stop.abort(fault);
    reject(fault);
  });
  try {
    return await Promise.race([work(stop.signal), promise]);
  } finally {
    unlisten();
  }
}

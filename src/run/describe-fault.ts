/** A fault of a model call as a result says it: a stable code and one line that helps. */
import { MetierError } from "../foundation/errors.ts";

export interface RunFault {
  readonly code: string;
  readonly message: string;
}

export function describeFault(error: unknown): RunFault {
  const message = error instanceof Error ? error.message : String(error);
  const { statusCode, url } = error as { readonly statusCode?: number; readonly url?: string };
  if (typeof statusCode === "number") {
    return { code: "model.http", message: `The provider answered ${statusCode}${at(url)}: ${message}` };
  }
  // Faults of our own models say themselves what they are.
  if (error instanceof MetierError) return { code: error.code, message };
  return { code: "model.failed", message: `The model call failed: ${message}` };
}

function at(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? ` (${new URL(url).host})` : "";
}

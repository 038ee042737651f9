/** What a durable run used in earlier processes, for a result that this process creates without continuing the run. */
import { createCapabilityNotes } from "../run/open-capabilities.ts";
import type { RunResult } from "../run/run-result.ts";
import type { RunSteps } from "./run-steps.ts";

/** Capabilities and hosts; the rest of such a result says why the run couldn't continue. */
export async function rememberUse(
  result: RunResult,
  steps: Pick<RunSteps, "all" | "earlier" | "isResumed"> | undefined,
): Promise<RunResult> {
  if (!steps?.isResumed) return result;
  const notes = createCapabilityNotes();
  for await (const event of steps.earlier()) {
    if (event.type === "capability-called") notes.recall(event);
  }
  const capabilities = notes.list();
  const network = [...new Set([...result.sandbox.used.network, ...steps.all("reached ").map(String)])].sort();
  return {
    ...result,
    sandbox: { ...result.sandbox, used: { ...result.sandbox.used, network } },
    ...(capabilities.length > 0 && { capabilities }),
  };
}

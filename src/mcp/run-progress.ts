/** What happens in a run, as progress notifications for the client that waits for it, if it asked for them. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunEvent } from "../events/run-event.ts";

export interface Progress {
  hear(event: RunEvent): void;
  say(message: string): void;
}

/** `undefined` when the client did not ask for progress. */
export function tellProgress({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  const say = (message: string): void => {
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that has gone hears of nothing; the run is ended by its signal.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  return {
    say,
    hear(event) {
      const message = describe(event);
      if (message !== undefined) say(message);
    },
  };
}

/** Events are redacted already; inputs and outputs of tools are the run's own business. */
function describe(event: RunEvent): string | undefined {
  switch (event.type) {
    case "run-started":
      return `${event.skill}: started (${event.model}, ${event.trust})`;
    case "tool-called":
      return event.decision === "deny" ? `${event.tool}: denied` : event.tool;
    case "model-answered":
      return `step ${event.step}: ${event.finishReason}`;
    case "model-retried":
      return `asking the model again in ${event.delayMs} ms`;
    case "limit-reached":
      return `limit of ${event.limit}`;
    default:
      return undefined;
  }
}

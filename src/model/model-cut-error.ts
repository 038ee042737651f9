/** The provider's stream ended before its answer did; what came until then is kept. */
import { MetierError } from "../foundation/errors.ts";

export class ModelCutError extends MetierError {
  constructor(cause?: unknown) {
    const reason = rootMessage(cause);
    super("model.cut", `The model's answer was cut off before its end${reason ? `: ${reason}` : ""}.`, {
      cause,
      hint: "Run it again; if it happens often, look at the connection or at the server's log.",
    });
  }
}

/** What the socket said; the layers above say only that something went wrong. */
function rootMessage(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return "";
  return (depth < 8 && rootMessage(error.cause, depth + 1)) || error.message;
}

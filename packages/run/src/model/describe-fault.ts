/**
 * Describes a failed model call for a result: a stable code and a helpful message. For a refused key, it says where the
 * key came from.
 */

import { sayFault } from "@metier/base/diagnostic";
import { MetierError } from "@metier/base/errors";
import type { ResolvedModel } from "./model-request.ts";

type AskedModel = Pick<ResolvedModel, "provider" | "secrets" | "isGiven">;

export function describeFault(
  error: unknown,
  model: AskedModel,
): { readonly code: string; readonly message: string } {
  const message = sayFault(error);
  const { statusCode, url } = error as { readonly statusCode?: number; readonly url?: string };
  if (typeof statusCode === "number") {
    const host = url === undefined ? undefined : URL.parse(url)?.host;
    const at = host === undefined ? "" : ` (${host})`;
    // A good status, but a body that was cut off or isn't an answer.
    const isCut = statusCode >= 200 && statusCode < 300;
    const said = isCut
      ? `The provider's answer${at} could not be read to the end: ${message}`
      : `The provider answered ${statusCode}${at}: ${message}`;
    const isKey = statusCode === 401 || statusCode === 403;
    return {
      code: "model.http",
      message: isKey ? `${endSentence(said)} ${adviseKey(statusCode, model)}` : said,
    };
  }
  // Errors of our own models describe themselves.
  if (error instanceof MetierError) return { code: error.code, message };
  return { code: "model.failed", message: `The model call failed: ${message}` };
}

/** Names the variable or config key, never the value. */
function adviseKey(status: 401 | 403, { provider, secrets, isGiven }: AskedModel): string {
  if (isGiven) return "The program that passed this model also passed its key: check it there.";
  const [key] = secrets;
  if (key === undefined) {
    return "No key was sent. If the server needs one, add `api-key-env` or `api-key-command` to the model's table in your config.";
  }
  // A config key has dots: `models.fast.api-key`. A variable doesn't.
  const isConfig = key.name.includes(".");
  const from = key.isStored
    ? `the secret \`${key.name}\``
    : isConfig
      ? `\`${key.name}\` of your config`
      : `the environment variable \`${key.name}\``;
  const advice =
    status === 401
      ? `Check that it is a valid key for \`${provider}\`, then set it again there.`
      : `Check that it may use this model at \`${provider}\`, or choose another model.`;
  return `The key came from ${from}. ${advice}`;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

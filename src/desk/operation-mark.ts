/** What an idempotency key leaves in the name of what was made with it, so that a second call finds it. */
import type { JsonObject } from "../capabilities/capability.ts";
import { digestJson } from "../capabilities/digest-json.ts";

export interface OperationMark {
  /** Of the key alone. */
  readonly key: string;
  /** Of the key, and of what was asked for with it. */
  readonly whole: string;
}

const PREFIX = "sha256:".length;

export function markOf(key: string, input: JsonObject): OperationMark {
  const ofKey = `K${digestJson(key).slice(PREFIX, PREFIX + 32)}`;
  return { key: ofKey, whole: `${ofKey}I${digestJson(input).slice(PREFIX, PREFIX + 16)}` };
}

/** What stands between a bridge provider and its processes: a request goes in, the answer to it comes out. */

import type { JsonObject } from "../capability.ts";
import { type Answer, refuse } from "../capability-fault.ts";
import type { BridgeRequest } from "./bridge-envelope.ts";
import type { Launch } from "./provider-launch.ts";
import type { Refused } from "./tidy-fault.ts";

export interface BridgeExchange {
  ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>>;
  close(): Promise<void>;
}

export interface ExchangeParts {
  /** As in `[capabilities.providers.<name>]`. */
  readonly name: string;
  readonly timeoutMs: number;
  launch(): Promise<Answer<Launch>>;
}

export function providerClosed(name: string): Refused {
  return refuse("capability_backend_unavailable", `The provider \`${name}\` was closed with its host.`);
}

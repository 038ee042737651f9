/**
 * A protocol of somebody else's clients: the routes under its prefix, and how it says no. Its routes translate to what the
 * API's own routes do (`askRoute`) and back; they hold no state, start nothing by themselves and check no key of their own.
 */
import type { JsonObject } from "@metier/base/json";
import type { ToldRefusal } from "../http/refusal.ts";
import type { ServiceRoute } from "../http/route.ts";

/** An error as the clients of a protocol read it. */
interface ForeignError {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Protocol {
  /** As people know it. */
  readonly name: string;
  /** What a client's base URL has behind the address of the service: `/anthropic`. Every path of its routes begins so. */
  readonly prefix: string;
  readonly routes: readonly ServiceRoute[];
  /** Also for addresses under the prefix that are not there, and for faults of the service. */
  tell(refusal: ToldRefusal): ForeignError;
}

/** One operation of the desk: what the broker is told about it, and what it does on the files of one account. */
import type { JsonObject } from "../capabilities/capability.ts";
import type { Answer } from "../capabilities/capability-fault.ts";

/** The files of one account, for one call. */
export interface Desk {
  /** The account's folder; `mail` and `calendar` are below it. */
  readonly folder: string;
  readonly account: { readonly name: string; readonly email: string };
  /** Of the caller, if it is known and exists. */
  readonly timezone: string;
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal;
  readonly now: Date;
}

export interface DeskOperation {
  readonly name: string;
  readonly description: string;
  readonly mutating: boolean;
  /** A second call with the same key changes nothing more. */
  readonly idempotent: boolean;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** `input` was held to the schema. */
  perform(input: JsonObject, desk: Desk): Promise<Answer<JsonObject>>;
}

interface OperationParts<Input> extends Omit<DeskOperation, "perform" | "mutating" | "idempotent"> {
  /** Absent: it only reads. Every change of the desk is idempotent. */
  readonly mutating?: true;
  perform(input: Input, desk: Desk): Promise<Answer<JsonObject>>;
}

/** `Input` is what the schema lets through. */
export function defineOperation<Input>(parts: OperationParts<Input>): DeskOperation {
  const isChange = parts.mutating === true;
  return {
    ...parts,
    mutating: isChange,
    idempotent: isChange,
    perform: (input, desk) => parts.perform(input as unknown as Input, desk),
  };
}

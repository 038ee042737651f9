/** What an operation gets, how it is described to Metier, and how it refuses a request. */
import type { Account } from "./accounts.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** One call, for one user, on the files of one account. */
export interface Call {
  readonly account: Account;
  readonly folder: string;
  /** Of the user, such as `Europe/Berlin`. */
  readonly timezone: string;
  /** The same for every attempt at the same change. */
  readonly key: string;
}

export interface Operation<Input = never> {
  readonly description: string;
  /** It changes something, so Metier asks a person first. */
  readonly mutating?: boolean;
  /** JSON Schema. Metier checks the input before it calls, so an operation can rely on it. */
  readonly input: JsonObject;
  perform(input: Input, call: Call): JsonObject | Promise<JsonObject>;
}

/** The schema of an object that has these properties and no others. */
export function inputOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}

/** A refused request. Code and message go to whoever asked, so neither may contain a secret. */
export class Fault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function invalidInput(message: string): Fault {
  return new Fault("capability_invalid_input", message);
}

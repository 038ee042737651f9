/**
 * What a request comes to: its value, or why it was refused. The one shape for both; a room that has more to say
 * about a refusal (a code, a diagnostic) says it in a refusal of its own that has these fields too.
 */

/** Why a request was not done, for the one who asked. Faults of the host are exceptions, wrong skills are diagnostics. */
export interface Refusal {
  /** What, which value, what is allowed: whole sentences. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string | undefined;
}

interface Done<Value> {
  readonly ok: true;
  /** What came of it. */
  readonly value: Value;
}

export interface Refused<Why = Refusal> {
  readonly ok: false;
  /** Why it was not done. */
  readonly refusal: Why;
}

export type Result<Value, Why = Refusal> = Done<Value> | Refused<Why>;

export function done<Value>(value: Value): Done<Value> {
  return { ok: true, value };
}

export function refused<Why>(refusal: Why): Refused<Why> {
  return { ok: false, refusal };
}

/**
 * The result of a request: its value, or why it was refused. The one shape for both. A package that has more to say
 * about a refusal (a code, a diagnostic) extends the refusal and keeps these fields.
 */

/**
 * Why a request was refused, for the caller. Faults of the host are exceptions, wrong skills are diagnostics.
 */
export interface Refusal {
  /** What happened, to which value, and what is allowed, in full sentences. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string | undefined;
}

interface Done<Value> {
  readonly ok: true;
  /** The value. */
  readonly value: Value;
}

export interface Refused<Why = Refusal> {
  readonly ok: false;
  /** Why it was refused. */
  readonly refusal: Why;
}

export type Result<Value, Why = Refusal> = Done<Value> | Refused<Why>;

export function done<Value>(value: Value): Done<Value> {
  return { ok: true, value };
}

export function refused<Why>(refusal: Why): Refused<Why> {
  return { ok: false, refusal };
}

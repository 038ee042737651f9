/** What a program of someone else says of a fault, as it may be passed on: no secret, nothing that cannot be seen, not long. */
import { cleanText } from "../../disclose/clean-text.ts";
import type { Redactor } from "../../secrets/redaction.ts";
import type { refuse } from "../capability-fault.ts";

export type Refused = ReturnType<typeof refuse>;

const MAX_MESSAGE = 4000;

/** Cut at the end alone: half of a secret would not be known as one. */
export function tidyFault({ fault }: Refused, ...redactors: readonly Redactor[]): Refused {
  const { text } = cleanText(redactors.reduce((part, { redact }) => redact(part), fault.message));
  const message = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
  return { ok: false, fault: { ...fault, message } };
}

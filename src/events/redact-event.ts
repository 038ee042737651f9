/**
 * An event through the redaction gate. Words of closed sets stay: a secret that happens to be spelled `completed` must not
 * make the log unreadable, and such a word tells nothing about it.
 */
import type { Redactor } from "../secrets/redaction.ts";
import type { RunEventBody } from "./run-event.ts";

const CLOSED_WORDS: ReadonlySet<string> = new Set([
  "type",
  "role",
  "source",
  "trust",
  "decision",
  "status",
  "limit",
  "hook",
  "outcome",
  "backend",
  "childRunId",
  "parentRunId",
  "requestId",
]);

/** What a model chose: nothing in it is a word of ours. */
const FREE = "input";

export function redactEvent(body: RunEventBody, redactor: Redactor): RunEventBody {
  return redactPart(body, redactor) as RunEventBody;
}

function redactPart(part: unknown, redactor: Redactor): unknown {
  if (typeof part === "string") return redactor.redact(part);
  if (Array.isArray(part)) return part.map((item) => redactPart(item, redactor));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === FREE) return [key, redactor.redactJson(value)];
      return [key, CLOSED_WORDS.has(key) ? value : redactPart(value, redactor)];
    }),
  );
}

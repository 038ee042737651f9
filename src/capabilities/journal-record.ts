/** What the journal keeps of one call, as it stands in a file: the intent before, and the result after. */
import type { ProcessIdentity } from "../host/process-identity.ts";
import { readBounded } from "../host/read-bounded.ts";
import type { JsonObject } from "./capability.ts";
import type { Answer } from "./capability-fault.ts";
import { MOST_CHARACTERS } from "./plain-json.ts";

export interface JournalRecord {
  readonly version: 1;
  /** Of the input, in canonical form. */
  readonly inputDigest: string;
  /** `unknown`: the call ended, and nobody knows whether it happened. */
  readonly state: "started" | "unknown" | "done";
  readonly owner: JournalOwner;
  /** Of a call that is done. */
  readonly answer?: Answer<JsonObject>;
}

/** Who makes the call, and until when it can be under way. */
export interface JournalOwner extends ProcessIdentity {
  /** Tells two that live in one process apart. */
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** A text may grow sixfold when its characters are escaped. */
const MOST_BYTES = 6 * MOST_CHARACTERS + 65_536;

/** `undefined`: there is none. `"damaged"`: there was one. */
export function readRecord(file: string): JournalRecord | "damaged" | undefined {
  const read = readBounded(file, MOST_BYTES);
  if (!read.ok) return read.message.includes("ENOENT") ? undefined : "damaged";
  try {
    const record = JSON.parse(read.text) as Partial<JournalRecord> | null;
    return isRecord(record) ? record : "damaged";
  } catch {
    return "damaged";
  }
}

function isRecord(record: Partial<JournalRecord> | null): record is JournalRecord {
  if (record?.version !== 1 || typeof record.inputDigest !== "string") return false;
  if (record.state === "done") return typeof record.answer?.ok === "boolean";
  const { pid, host, until } = record.owner ?? {};
  return (
    (record.state === "started" || record.state === "unknown") &&
    typeof pid === "number" &&
    typeof host === "string" &&
    typeof until === "number"
  );
}

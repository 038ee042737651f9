/**
 * Same key, same result: what a mutating operation is about to do is on disk before the provider is called, and what came of
 * it after. Whoever finds an intent without a result repeats the call if the operation is idempotent; otherwise nobody can
 * know whether it happened, and that is the answer from then on. Holds between processes, too.
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { identifyProcess, isStillAlive } from "../host/process-identity.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { withLock } from "../trust/lock-file.ts";
import type { JsonObject } from "./capability.ts";
import { type Answer, refuse } from "./capability-fault.ts";
import { type JournalOwner, type JournalRecord, readRecord } from "./journal-record.ts";
import { pruneJournal } from "./prune-journal.ts";
import { CapabilityStateError } from "./state-error.ts";
import { digestName, userFolder } from "./state-files.ts";

export interface JournaledCall {
  readonly userId: string;
  readonly capability: string;
  readonly operation: string;
  readonly account?: string;
  readonly key: string;
  readonly inputDigest: string;
  readonly isIdempotent: boolean;
  /** Longer than this the call cannot take. */
  readonly limitMs: number;
}

export interface IdempotencyJournal {
  /** What is known already: a result, or why there will be none. Waits for nobody. */
  recall(call: JournaledCall): Answer<JsonObject> | undefined;
  /** The right to make the call; or what came of the same call, also of one that is just under way. */
  begin(call: JournaledCall, signal?: AbortSignal): Promise<JournalClaim | Answer<JsonObject>>;
}

/** Exactly one of these ends it. */
export interface JournalClaim {
  /** The answer to every further call with this key. */
  finish(answer: Answer<JsonObject>): void;
  /** Nothing has happened: the key is free again. */
  release(): void;
  /** It may have happened. */
  abandon(): void;
}

export interface JournalOptions {
  readonly folder: string;
  readonly now?: () => number;
}

/** Of this module: files of the claims that are held here. */
const held = new Set<string>();
const INSTANCE: string = randomUUID();
const GRACE_MS = 30_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

export function openJournal({ folder, now = Date.now }: JournalOptions): IdempotencyJournal {
  const fileOf = ({ userId, capability, operation, account, key }: JournaledCall): string =>
    join(
      userFolder(folder, userId),
      `${digestName(JSON.stringify([capability, operation, account ?? null, key]))}.json`,
    );
  const judge = (file: string, call: JournaledCall): Answer<JsonObject> | "free" | "wait" =>
    judgeRecord(readRecord(file), call, (owner) => isUnderWay(owner, file, now()));
  const claim = (file: string, call: JournaledCall, isHeld: () => boolean): JournalClaim => {
    const owner = { ...identifyProcess(), instance: INSTANCE, until: now() + call.limitMs + GRACE_MS };
    const write = (state: JournalRecord["state"], more: Pick<JournalRecord, "answer"> = {}): boolean => {
      const record: JournalRecord = { version: 1, inputDigest: call.inputDigest, state, owner, ...more };
      return writeAtomic(file, JSON.stringify(record), state === "started" ? { onlyIf: isHeld } : {});
    };
    const end = (change: () => unknown): void => {
      try {
        change();
      } finally {
        held.delete(file);
      }
    };
    if (!write("started")) throw lockLost(file);
    held.add(file);
    return {
      finish: (answer) => end(() => write("done", { answer })),
      release: () => end(() => rmSync(file, { force: true })),
      abandon: () => end(() => write("unknown")),
    };
  };
  return {
    recall(call) {
      const judged = judge(fileOf(call), call);
      return typeof judged === "string" ? undefined : judged;
    },
    async begin(call, signal) {
      const file = fileOf(call);
      await pruneJournal(folder, now());
      for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
        const outcome = withLock(file, (isHeld) => {
          const judged = judge(file, call);
          return judged === "free" ? claim(file, call, isHeld) : judged;
        });
        if (outcome !== "wait") return outcome;
        await pause(wait);
        if (signal?.aborted) return refuse("capability_cancelled", "The call was cancelled.");
      }
    },
  };
}

function judgeRecord(
  record: JournalRecord | "damaged" | undefined,
  { key, inputDigest, isIdempotent }: JournaledCall,
  isOwnerBusy: (owner: JournalOwner) => boolean,
): Answer<JsonObject> | "free" | "wait" {
  if (record === undefined) return "free";
  if (record === "damaged") return outcomeUnknown(key, "what was recorded of it is damaged");
  if (record.inputDigest !== inputDigest) {
    return refuse(
      "capability_invalid_input",
      `The idempotency key ${JSON.stringify(key)} was used for the same operation with another input.`,
      { hint: "Use a new key for a new call; repeat a call with exactly the same input." },
    );
  }
  if (record.state === "done" && record.answer) return record.answer;
  if (record.state === "started" && isOwnerBusy(record.owner)) return "wait";
  return isIdempotent ? "free" : outcomeUnknown(key, "it was cut off, and the operation is not idempotent");
}

function outcomeUnknown(key: string, reason: string): Answer<never> {
  return refuse(
    "capability_outcome_unknown",
    `An earlier call with the idempotency key ${JSON.stringify(key)} may have happened: ${reason}. It is not repeated.`,
    { hint: "Look at the system itself whether it happened. If it did not, call again with a new key." },
  );
}

function lockLost(file: string): CapabilityStateError {
  return new CapabilityStateError(
    `Another process took over \`${file}\` meanwhile; nothing was done.`,
    "Make the call again.",
  );
}

/** Whether the call can still be on its way. */
function isUnderWay(owner: JournalOwner, file: string, now: number): boolean {
  if (owner.instance === INSTANCE) return held.has(file);
  return isStillAlive(owner) !== false && now < owner.until;
}

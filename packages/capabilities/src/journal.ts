/**
 * Same key, same result. The intent of a mutating operation is on disk before the provider is called, and the result
 * after. An intent without a result means: repeat the call if the operation is idempotent; otherwise its outcome is
 * unknown, and that stays the answer. Works across processes.
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readBounded, removeFolder, writeAtomic } from "@metier/base/files";
import type { JsonObject } from "@metier/base/json";
import { identifyProcess, isStillAlive, type ProcessIdentity } from "@metier/base/programs";
import { withLock } from "@metier/base/turns";
import { type Answer, answerFault } from "./capability.ts";
import { MOST_CHARACTERS } from "./plain-json.ts";
import { CapabilityStateError, digestName, userFolder } from "./state-files.ts";

export interface JournaledCall {
  readonly userId: string;
  readonly capability: string;
  readonly operation: string;
  readonly account?: string | undefined;
  readonly key: string;
  readonly inputDigest: string;
  readonly isIdempotent: boolean;
  /** The longest a call can take. */
  readonly limitMs: number;
}

export interface IdempotencyJournal {
  /** What is already known: a result, or why there will be none. Does not wait. */
  recall(call: JournaledCall): Answer<JsonObject> | undefined;
  /** The right to make the call; or the result of the same call, even one in progress. */
  begin(call: JournaledCall, signal?: AbortSignal): Promise<JournalClaim | Answer<JsonObject>>;
  /** Removes all calls of this user, including those with an unknown outcome. */
  forget(userId: string): void;
}

/** Exactly one of these methods ends it. */
export interface JournalClaim {
  /** Becomes the answer to every further call with this key. */
  finish(answer: Answer<JsonObject>): void;
  /** Nothing happened: the key is free again. */
  release(): void;
  /** It may have happened. */
  abandon(): void;
}

/** Files of the claims held by this module. */
const held = new Set<string>();
const INSTANCE: string = randomUUID();
const GRACE_MS = 30_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

export function openJournal({
  folder,
  now = Date.now,
}: {
  readonly folder: string;
  now?(): number;
}): IdempotencyJournal {
  const fileOf = ({ userId, capability, operation, account, key }: JournaledCall): string =>
    join(
      userFolder(folder, userId),
      `${digestName(JSON.stringify([capability, operation, account ?? null, key]))}.json`,
    );
  const judge = (file: string, call: JournaledCall): Answer<JsonObject> | "free" | "wait" =>
    judgeRecord(readJournalRecord(file), call, (owner) => isUnderWay(owner, file, now()));
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
    if (!write("started")) {
      const message = `Another process took over \`${file}\`; nothing was done.`;
      throw new CapabilityStateError(message, "Make the call again.");
    }
    held.add(file);
    return {
      finish: (answer) => end(() => write("done", { answer })),
      release: () => end(() => rmSync(file, { force: true })),
      abandon: () => end(() => write("unknown")),
    };
  };
  return {
    forget: (userId) => removeFolder(userFolder(folder, userId)),
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
        if (signal?.aborted) return answerFault("capability_cancelled", "The call was cancelled.");
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
  if (record === "damaged") return outcomeUnknown(key, "its record is damaged");
  if (record.inputDigest !== inputDigest) {
    return answerFault(
      "capability_invalid_input",
      `The idempotency key ${JSON.stringify(key)} was already used for this operation with different input.`,
      { hint: "Use a new key for a new call; to repeat a call, send exactly the same input." },
    );
  }
  if (record.state === "done" && record.answer) return record.answer;
  if (record.state === "started" && isOwnerBusy(record.owner)) return "wait";
  return isIdempotent
    ? "free"
    : outcomeUnknown(key, "it was interrupted, and the operation is not idempotent");
}

function outcomeUnknown(key: string, reason: string): Answer<never> {
  return answerFault(
    "capability_outcome_unknown",
    `An earlier call with the idempotency key ${JSON.stringify(key)} may have taken effect: ${reason}. It was not repeated.`,
    { hint: "Check in the system itself whether it did. If not, call again with a new key." },
  );
}

/** Whether the call can still be in progress. */
function isUnderWay(owner: JournalOwner, file: string, now: number): boolean {
  if (owner.instance === INSTANCE) return held.has(file);
  return isStillAlive(owner) !== false && now < owner.until;
}

/** The record of one call in its file: the intent before, the result after. */
interface JournalRecord {
  readonly version: 1;
  /** Digest of the input, in canonical form. */
  readonly inputDigest: string;
  /** `unknown`: the call ended with an unknown outcome. */
  readonly state: "started" | "unknown" | "done";
  readonly owner: JournalOwner;
  /** Of a finished call. */
  readonly answer?: Answer<JsonObject> | undefined;
}

/** Who makes the call, and until when it can be in progress. */
interface JournalOwner extends ProcessIdentity {
  /** Tells two owners in one process apart. */
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Escaping can make a text six times longer. */
const MOST_BYTES = 6 * MOST_CHARACTERS + 65_536;

/** `undefined`: there is none. `"damaged"`: there was one. */
function readJournalRecord(file: string): JournalRecord | "damaged" | undefined {
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

// Keeps the journal bounded. Only results are removed: an intent without one records an unknown outcome.

const KEPT_FOR_MS = 30 * 24 * 60 * 60_000;
/** Per user; beyond that the oldest are removed, whatever their age. */
const MOST_RECORDS = 10_000;
const PRUNE_EVERY_MS = 60 * 60_000;

/** When each folder was last pruned. */
const lastPruned = new Map<string, number>();

/** At most once an hour; other calls do not wait for it. */
async function pruneJournal(folder: string, now: number): Promise<void> {
  if (now - (lastPruned.get(folder) ?? Number.NEGATIVE_INFINITY) < PRUNE_EVERY_MS) return;
  lastPruned.set(folder, now);
  for (const user of await namesIn(folder)) await pruneUser(join(folder, user), now);
}

async function pruneUser(folder: string, now: number): Promise<void> {
  const files = (await namesIn(folder)).filter((name) => name.endsWith(".json"));
  const stamped = await Promise.all(
    files.map(async (name) => ({ file: join(folder, name), writtenAt: await writtenAt(join(folder, name)) })),
  );
  const newestFirst = stamped.toSorted((a, b) => b.writtenAt - a.writtenAt);
  for (const [index, { file, writtenAt: time }] of newestFirst.entries()) {
    if (index < MOST_RECORDS && now - time < KEPT_FOR_MS) continue;
    const record = readJournalRecord(file);
    if (record === "damaged" || record?.state !== "done") continue;
    await rm(file, { force: true }).catch(() => undefined); // If the system refuses, a later attempt removes it.
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((): readonly string[] => []); // Not there yet, or not a folder: nothing to prune.
}

async function writtenAt(file: string): Promise<number> {
  return lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY, // Removed in the meantime.
  );
}

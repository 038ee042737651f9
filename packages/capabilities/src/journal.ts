/**
 * Same key, same result: what a mutating operation is about to do is on disk before the provider is called, and what came of
 * it after. Whoever finds an intent without a result repeats the call if the operation is idempotent; otherwise nobody can
 * know whether it happened, and that is the answer from then on. Holds between processes, too.
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
  /** Longer than this the call cannot take. */
  readonly limitMs: number;
}

export interface IdempotencyJournal {
  /** What is known already: a result, or why there will be none. Waits for nobody. */
  recall(call: JournaledCall): Answer<JsonObject> | undefined;
  /** The right to make the call; or what came of the same call, also of one that is just under way. */
  begin(call: JournaledCall, signal?: AbortSignal): Promise<JournalClaim | Answer<JsonObject>>;
  /** All calls of this user, those too of which nobody knows whether they happened. */
  forget(userId: string): void;
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

/** Of this module: files of the claims that are held here. */
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
      const message = `Another process took over \`${file}\` meanwhile; nothing was done.`;
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
  if (record === "damaged") return outcomeUnknown(key, "what was recorded of it is damaged");
  if (record.inputDigest !== inputDigest) {
    return answerFault(
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
  return answerFault(
    "capability_outcome_unknown",
    `An earlier call with the idempotency key ${JSON.stringify(key)} may have happened: ${reason}. It is not repeated.`,
    { hint: "Look at the system itself whether it happened. If it did not, call again with a new key." },
  );
}

/** Whether the call can still be on its way. */
function isUnderWay(owner: JournalOwner, file: string, now: number): boolean {
  if (owner.instance === INSTANCE) return held.has(file);
  return isStillAlive(owner) !== false && now < owner.until;
}

/** What is kept of one call, as it stands in a file: the intent before, and the result after. */
interface JournalRecord {
  readonly version: 1;
  /** Of the input, in canonical form. */
  readonly inputDigest: string;
  /** `unknown`: the call ended, and nobody knows whether it happened. */
  readonly state: "started" | "unknown" | "done";
  readonly owner: JournalOwner;
  /** Of a call that is done. */
  readonly answer?: Answer<JsonObject> | undefined;
}

/** Who makes the call, and until when it can be under way. */
interface JournalOwner extends ProcessIdentity {
  /** Tells two that live in one process apart. */
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** A text may grow sixfold when its characters are escaped. */
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

// The journal stays bounded. Only results go: an intent without one is what tells that nobody knows.

const KEPT_FOR_MS = 30 * 24 * 60 * 60_000;
/** Of one user; beyond that the oldest go, whatever their age. */
const MOST_RECORDS = 10_000;
const PRUNE_EVERY_MS = 60 * 60_000;

/** By folder: when it was last done. */
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
    await rm(file, { force: true }).catch(() => undefined); // What the system does not let go is left to a later attempt.
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((): readonly string[] => []); // Not there yet, or not a folder: nothing to prune.
}

async function writtenAt(file: string): Promise<number> {
  return lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY, // Gone meanwhile.
  );
}

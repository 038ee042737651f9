/**
 * Two users of one skill at work at the same time, in random order: they read and change their own notes, and now and then
 * ask for what belongs to the other. Whatever comes back, is kept or is recorded must be their own.
 */
import type { CapabilityCaller, InvokeRequest } from "@metier/capabilities";
import { noteOfKey } from "./notes-provider.ts";
import { linkShelf, notesOf, openNotes, PAD, readAudit } from "./notes-world.ts";
import { createRandom } from "./random.ts";

export interface CrowdReport {
  /** How often each kind of call was made. */
  readonly made: Readonly<Record<Kind, number>>;
  /** What was wrong, in sentences. */
  readonly faults: readonly string[];
}

const KINDS = ["read", "add", "set", "repeat", "steal", "unconfirmed"] as const;
type Kind = (typeof KINDS)[number];

/** How often each is drawn: changes are flushed to disk, which takes its time. */
const DRAWN: readonly Kind[] = [
  ...Array<Kind>(11).fill("read"),
  ...(["add", "add", "set", "set", "repeat", "steal", "steal", "unconfirmed"] as const),
];
const AT_ONCE = 16;

interface User {
  readonly caller: CapabilityCaller;
  readonly shelf: string;
  /** What must be on the shelf in the end. */
  readonly written: Set<string>;
  /** Changes with a key, to be repeated. */
  readonly keyed: InvokeRequest[];
}

export async function interleaveUsers(home: string, operations: number, seed: number): Promise<CrowdReport> {
  const random = createRandom(seed);
  const broker = openNotes(home);
  const users = await Promise.all(["alice", "bob"].map((name) => createUser(home, name)));
  const made = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
  const faults: string[] = [];
  let begun = 0;

  const makeCall = async (number: number): Promise<void> => {
    const pick = random() < 0.5 ? [0, 1] : [1, 0];
    const [user, other] = pick.map((index) => users[index]);
    const drawn = DRAWN[Math.floor(random() * DRAWN.length)];
    if (!user || !other || !drawn) throw new Error("There are two users and some kinds.");
    const kind = drawn === "repeat" && user.keyed.length === 0 ? "read" : drawn;
    made[kind] += 1;
    const fault = await ACTS[kind](number, user, other);
    if (fault !== undefined) faults.push(`Call ${number} (${kind} of ${user.caller.userId}): ${fault}`);
  };

  /** Whether the answer is fine, and holds nothing of anybody else. */
  const change = async (user: User, request: InvokeRequest): Promise<string | undefined> => {
    const answer = await broker.invoke(user.caller, request, { confirm: () => "yes" });
    return answer.ok ? checkOwn(user, answer.value.output.notes) : answer.fault.message;
  };

  const ACTS: Readonly<
    Record<Kind, (number: number, user: User, other: User) => Promise<string | undefined>>
  > = {
    async read(_number, user) {
      const answer = await broker.invoke(user.caller, { capability: PAD, operation: "read" });
      return answer.ok ? checkOwn(user, answer.value.output.notes) : answer.fault.message;
    },
    add(number, user) {
      const text = `${user.caller.userId} ${number}`;
      user.written.add(text);
      return change(user, { capability: PAD, operation: "add", input: { text } });
    },
    set(number, user) {
      const text = `${user.caller.userId} ${number}`;
      // Both users use the same keys.
      const idempotencyKey = `key-${user.keyed.length}`;
      user.written.add(noteOfKey(text, idempotencyKey));
      const request = { capability: PAD, operation: "set", input: { text }, idempotencyKey };
      user.keyed.push(request);
      return change(user, request);
    },
    async repeat(_number, user) {
      const request = user.keyed[Math.floor(random() * user.keyed.length)];
      return request && change(user, request);
    },
    async steal(_number, user, other) {
      const request = { capability: PAD, operation: "read", account: other.shelf };
      const answer = await broker.invoke(user.caller, request);
      if (answer.ok) return "The account of the other user was opened.";
      return answer.fault.code === "capability_auth_required" ? undefined : answer.fault.message;
    },
    async unconfirmed(number, user) {
      const input = { text: `${user.caller.userId} unconfirmed ${number}` };
      const answer = await broker.invoke(user.caller, { capability: PAD, operation: "add", input });
      return answer.ok ? "It was done without anybody's yes." : undefined;
    },
  };

  const work = async (): Promise<void> => {
    while (begun < operations && faults.length < 10) await makeCall(begun++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await broker.close();
  faults.push(...users.flatMap((user) => checkShelf(home, user)), ...checkAudit(home, made, operations));
  return { made, faults };
}

async function createUser(home: string, userId: string): Promise<User> {
  const caller = { userId, chatType: "private", skill: "notes", runId: `run-of-${userId}`, declared: [PAD] };
  return { caller, shelf: await linkShelf(home, caller), written: new Set(), keyed: [] };
}

function checkOwn({ caller, written }: User, notes: unknown): string | undefined {
  if (!Array.isArray(notes)) return "There are no notes in the answer.";
  const strange = notes.find((note) => !written.has(String(note)));
  return strange === undefined
    ? undefined
    : `${caller.userId} was given the note ${JSON.stringify(strange)}.`;
}

function checkShelf(home: string, { shelf, written }: User): readonly string[] {
  const notes = notesOf(home, shelf);
  const isSame = notes.length === written.size && notes.every((note) => written.has(note));
  return isSame
    ? []
    : [`On \`${shelf}\` are ${notes.length} notes; ${written.size} were written, each once.`];
}

/** One line for the end of each call, one more before each that changed something, and each with its own user. */
function checkAudit(home: string, made: CrowdReport["made"], operations: number): readonly string[] {
  const lines = readAudit(home);
  const faults: string[] = [];
  const expect = (what: string, found: number, wanted: number): void => {
    if (found !== wanted) faults.push(`The audit log has ${found} lines of ${what} instead of ${wanted}.`);
  };
  const ended = lines.filter(({ outcome }) => outcome !== "started");
  const started = lines.filter(({ outcome }) => outcome === "started");
  expect("calls that ended", ended.length, operations);
  expect("different calls", new Set(ended.map(({ requestId }) => requestId)).size, ended.length);
  expect("changes that began", started.length, made.add + made.set);
  expect("repetitions", countOutcome(ended, "repeat"), made.repeat);
  expect("refused thefts", countOutcome(ended, "capability_auth_required"), made.steal);
  expect("unconfirmed changes", countOutcome(ended, "capability_mutation_not_confirmed"), made.unconfirmed);
  const mixed = lines.find(
    ({ user, runId, account }) =>
      runId !== `run-of-${user}` || (account ?? `shelf-of-${user}`) !== `shelf-of-${user}`,
  );
  if (mixed) faults.push(`A line of the audit log mixes users: ${JSON.stringify(mixed)}`);
  return faults;
}

function countOutcome(lines: readonly { readonly outcome: string }[], wanted: string): number {
  return lines.filter(({ outcome }) => outcome === wanted).length;
}

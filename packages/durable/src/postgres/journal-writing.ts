/**
 * The writing half of the journal in Postgres. Each change is one call of a database function, which checks who holds
 * the lease. A call whose answer was lost is repeated, but carried out once: the database recognizes it by its number.
 */
import { createTurns, type Turns } from "@metier/base/turns";
import {
  type CreateOutcome,
  ENDED,
  type JournalBatch,
  type JournalStore,
  LeaseLostError,
  type NewDurableRun,
  type QuotaFull,
} from "../journal-store.ts";
import { listQuotas } from "../quotas.ts";
import { writeOptionalJson } from "../rows.ts";
import { usageOf } from "../usage.ts";
import { writeLine } from "./audit.ts";
import type { Database, Value } from "./database.ts";
import { faultCode } from "./faults.ts";
import { newNumber } from "./new-number.ts";
import { readRun } from "./rows.ts";
import { currentScope } from "./scope.ts";
import { writeOptionalText, writeText } from "./text.ts";

type JournalWriting = Pick<
  JournalStore,
  "create" | "take" | "write" | "createChild" | "cancel" | "purge" | "forget"
>;

/** How many root runs one statement deletes, with everything they own: it takes less than a second. */
const PURGED_AT_ONCE = 500;
/** Larger than the number of writes any process makes. */
const WRITES_OF_A_TERM = 2 ** 32;

/** One process makes all writes of a holder, and a later holder has a higher term, so numbers only grow. */
let writes = 0;

export function writeJournal(database: Database): JournalWriting {
  const { insist } = database;
  const inTurn = turnsByRun();
  return {
    async create(run, line, quotas) {
      const sql = "SELECT metier.create_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS outcome";
      const asked = listQuotas(quotas, run.userId);
      const values = [
        currentScope(),
        newNumber(),
        ...runValues(run),
        writeLine(line),
        asked.length === 0 ? null : JSON.stringify(asked),
      ];
      const [row] = await told(() => insist(sql, () => values));
      return readOutcome(String(row?.outcome));
    },
    async take({ rootId, holder, term }) {
      const values = [currentScope(), writeText(rootId), writeText(holder), term];
      const sql = "SELECT * FROM metier.take_run($1, $2, $3, $4)";
      const [row] = await told(() => insist(sql, () => values), rootId);
      if (row === undefined) throw new Error(`Run \`${rootId}\` was taken, but is missing.`);
      return readRun(row);
    },
    async write(lease, batch) {
      const scope = currentScope();
      const rest = batchValues(batch);
      await inTurn(batch.runId, () => {
        writes += 1;
        const number = lease.term * WRITES_OF_A_TERM + writes;
        const head = [writeText(lease.rootId), writeText(lease.holder), number, writeText(batch.runId)];
        const write = () => insist(WRITE, (isAgain) => [scope, isAgain, ...head, ...rest]);
        return told(write, lease.rootId, batch);
      });
    },
    async createChild({ rootId, holder }, run) {
      const sql = "SELECT metier.create_child($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
      const lease = [writeText(rootId), writeText(holder), newNumber()];
      const values = [currentScope(), ...lease, ...runValues(run)];
      await told(() => insist(sql, () => values), rootId);
    },
    async cancel(runId, line) {
      const values = [currentScope(), writeText(runId), writeLine(line)];
      const sql = "SELECT * FROM metier.cancel_run($1, $2, $3)";
      const [row] = await insist(sql, () => values);
      return row && readRun(row);
    },
    async forget(runId) {
      const scope = currentScope();
      const sql = "SELECT metier.forget_run($1, $2, $3) AS is_gone";
      const [row] = await insist(sql, (isAgain) => [scope, isAgain, writeText(runId)]);
      return row?.is_gone === true;
    },
    purge: (before) => purgeRuns(database, before),
  };
}

async function purgeRuns({ insist }: Database, before: number): Promise<number> {
  const scope = currentScope();
  let total = 0;
  for (let gone = PURGED_AT_ONCE; gone === PURGED_AT_ONCE; total += gone) {
    const sql = "SELECT metier.purge_runs($1, $2, $3) AS gone";
    const [row] = await insist(sql, () => [scope, before, PURGED_AT_ONCE]);
    gone = Number(row?.gone);
  }
  return total;
}

/** Writes to one run happen one after another, so that a lost answer is looked up before the next write. */
function turnsByRun(): <Outcome>(runId: string, work: () => Promise<Outcome>) => Promise<Outcome> {
  const waiting = new Map<string, { readonly turns: Turns; count: number }>();
  return async (runId, work) => {
    const own = waiting.get(runId) ?? { turns: createTurns(), count: 0 };
    waiting.set(runId, own);
    own.count += 1;
    try {
      return await own.turns.alone(work);
    } finally {
      own.count -= 1;
      if (own.count === 0) waiting.delete(runId);
    }
  };
}

function runValues({ tenant, id, userId, skill, parentId, order }: NewDurableRun): readonly Value[] {
  return [
    writeText(tenant),
    writeText(id),
    ...[userId, skill, parentId].map(writeOptionalText),
    JSON.stringify(order),
  ];
}

function readOutcome(outcome: string): CreateOutcome {
  return outcome === "created" || outcome === "known" ? outcome : (JSON.parse(outcome) as QuotaFull);
}

const WRITE = `SELECT metier.write_batch(${Array.from({ length: 20 }, (_, index) => `$${index + 1}`).join(", ")})`;

function batchValues(batch: JournalBatch): readonly Value[] {
  const { runId, entries = [], events = [], questions = [], status, result, activeMs } = batch;
  const [first] = events;
  for (const [index, { seq }] of events.entries()) {
    const last = Number(first?.seq) + index - 1;
    if (seq !== last + 1) throw new Error(`Event ${seq} of run \`${runId}\` does not follow event ${last}.`);
  }
  return [
    entries.map(({ key }) => writeText(key)),
    entries.map(({ value }) => JSON.stringify(value)),
    entries.map(({ snapshot }) => writeOptionalText(snapshot)),
    first?.seq ?? null,
    events.map(({ event }) => JSON.stringify(event)),
    questions.map(({ id }) => writeText(id)),
    questions.map(({ key }) => writeText(key)),
    questions.map(({ kind }) => kind),
    questions.map(({ body }) => JSON.stringify(body)),
    questions.map(({ expiresAt }) => wholeNumber(expiresAt)),
    status ?? null,
    writeOptionalJson(result),
    wholeNumber(activeMs),
    status !== undefined && ENDED.has(status) ? spentValues(batch) : null,
  ];
}

function spentValues({ result }: JournalBatch): readonly (number | null)[] {
  const { inputTokens, outputTokens, totalTokens, cost } = usageOf(result);
  return [inputTokens, outputTokens, totalTokens, cost ?? null];
}

function wholeNumber(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}

/** Turns errors that the functions raise into the port's errors. */
async function told<Outcome>(
  work: () => Promise<Outcome>,
  rootId = "",
  batch?: JournalBatch,
): Promise<Outcome> {
  try {
    return await work();
  } catch (fault) {
    const code = faultCode(fault);
    if (code === "MT001") throw new LeaseLostError(rootId);
    if (code === "MT002" && fault instanceof Error) throw new Error(fault.message);
    if (code === "23505" && batch?.entries) throw knownStep(batch, fault);
    throw fault;
  }
}

/** Postgres doesn't say which, for rows that belong to tenants. */
function knownStep({ runId, entries = [] }: JournalBatch, cause: unknown): Error {
  const keys = entries.map(({ key }) => `\`${key}\``).join(", ");
  const which = entries.length === 1 ? `Step ${keys}` : `One of the steps ${keys}`;
  return new Error(`${which} of run \`${runId}\` is already recorded.`, { cause });
}

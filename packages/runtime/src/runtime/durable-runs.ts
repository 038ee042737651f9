/**
 * `metier.durable`: runs that survive their process. A run is first a row in the journal; workers advance it, here or
 * in any process with the same journal; a question is a row until someone answers it.
 */
import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { once } from "@metier/base/turns";
import {
  type AdvanceOutcome,
  type AnswerOutcome,
  boundToTenant,
  type DurableRun,
  type EngineWorker,
  forAllTenants,
  forTenant,
  type JournalStore,
  type NewDurableRun,
  ownTenant,
  type Question,
  type QuestionAnswer,
  type RunEngine,
  type RunLease,
  type SnapshotStore,
} from "@metier/durable";
import { type Caller, type RunHost, type RunOrder, type TurnOrder, writeOrder, writeTurn } from "@metier/run";
import { createRunId } from "@metier/run/events";

/** What makes runs durable: where they are recorded, who advances them, and where their work folders are kept. */
export interface DurabilityOptions {
  /** Where durable runs are recorded; together with `engine`, it enables `metier.durable`. */
  readonly journal?: JournalStore;
  /** Who advances durable runs, and when. */
  readonly engine?: RunEngine;
  /** Where work folders of durable runs are kept. Default: a run continues only where its folder is. */
  readonly snapshots?: SnapshotStore;
}

/** Settings of a worker. */
export interface WorkerOptions {
  /** How many runs it advances at a time. Default: 4. */
  readonly slots?: number | undefined;
  /** How long a worker can be silent before another takes over its run, in milliseconds. Default: 10,000. */
  readonly leaseMs?: number | undefined;
  /** How long a question waits for an answer, in milliseconds. Default: forever. */
  readonly questionMs?: number | undefined;
  /** Receives errors of the store. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/** How a durable run is recorded. */
export interface DurableRunOptions {
  /** The run's id; if a run with this id exists, nothing is started. Default: a new id. */
  readonly runId?: string;
}

/** Runs that survive their process. */
export interface DurableRuns {
  /** Records a run, which then waits for a worker. Returns its id. */
  start(order: RunOrder, options?: DurableRunOptions): Promise<string>;
  /** Starts the next turn of a conversation; `previous` is the run of the previous turn, which must have ended. */
  send(order: TurnOrder, options?: DurableRunOptions): Promise<string>;
  /** For the program's own engine: continues a run that it holds. */
  advance(lease: RunLease, options?: Pick<WorkerOptions, "questionMs">): Promise<AdvanceOutcome>;
  /** Advances runs until it is stopped. */
  work(options?: WorkerOptions): EngineWorker;
  /** A run's status, with its result once it has ended. */
  get(runId: string): Promise<DurableRun | undefined>;
  /** `false` if there is no such run or it has ended. */
  cancel(runId: string): Promise<boolean>;
  /** The questions that are waiting for a person. */
  questions(): Promise<readonly Question[]>;
  /** Counts once; the run continues. */
  answer(questionId: string, answer: QuestionAnswer): Promise<AnswerOutcome>;
}

const NAMING: OptionKeys<DurableRunOptions> = { runId: true };
const WORK: OptionKeys<WorkerOptions> = { slots: true, leaseMs: true, questionMs: true, onFault: true };
const ADVANCE: OptionKeys<Pick<WorkerOptions, "questionMs">> = { questionMs: true };
const TURN: OptionKeys<TurnOrder> = {
  message: true,
  previous: true,
  instructions: true,
  caller: true,
  model: true,
  limits: true,
  approve: true,
};

/** Cached, because Node resolves a module again at every `import()`. */
const loadEngine = once(() => import("@metier/run/engine"));

const DEFAULT_SLOTS = 4;
const DEFAULT_LEASE_MS = 10_000;
const MOST_QUESTIONS = 1000;

/** The lease names a run, and only the run knows its tenant; callers with a tenant have already checked. */
async function tenantOf({ runId }: RunLease, store: JournalStore): Promise<string | undefined> {
  return ownTenant() ?? (await forAllTenants(() => store.get(runId)))?.tenant;
}

type Parts = Required<Pick<DurabilityOptions, "journal" | "engine">>;

function requireParts({ journal, engine }: DurabilityOptions): Parts {
  if (journal && engine) return { journal, engine };
  throw new UsageError("Durable runs are off: `createMetier` got no `journal` or no `engine`.", {
    hint: "Pass both, such as those from `openLocal` of `metier/durable`.",
  });
}

export function createDurableRuns(host: RunHost, options: DurabilityOptions): DurableRuns {
  const have = (): Parts => requireParts(options);
  const advance: DurableRuns["advance"] = async (lease, asked = {}) => {
    checkKeys("durable.advance", asked, ADVANCE);
    const { questionMs } = asked;
    const { journal: store } = have();
    const { advanceRun } = await loadEngine();
    const tenant = await tenantOf(lease, store);
    if (tenant === undefined) return { kind: "ended" };
    const { snapshots } = options;
    const bound = {
      store: boundToTenant(tenant, store),
      snapshots: snapshots && boundToTenant(tenant, snapshots),
    };
    return forTenant(tenant, () => advanceRun(host, lease, { ...bound, questionMs }));
  };
  const open = async (
    run: Pick<NewDurableRun, "skill" | "order">,
    caller: Caller = {},
    id = createRunId(),
  ) => {
    const { journal, engine } = have();
    const { userId, tenantId: tenant = "default" } = caller;
    await forTenant(tenant, () => journal.create({ ...run, id, tenant, userId }));
    await engine.enqueue(id, { tenant, userId });
    return id;
  };
  return {
    advance,
    async start(order, naming = {}) {
      checkKeys("durable.start", naming, NAMING);
      return open({ skill: order.skill, order: writeOrder(order) }, order.caller, naming.runId);
    },
    async send(order, naming = {}) {
      checkKeys("durable.send", order, TURN);
      checkKeys("durable.send", naming, NAMING);
      return open({ order: writeTurn(order) }, order.caller, naming.runId);
    },
    work(asked = {}) {
      checkKeys("durable.work", asked, WORK);
      const { slots = DEFAULT_SLOTS, leaseMs = DEFAULT_LEASE_MS, questionMs } = asked;
      const { onFault = () => undefined } = asked;
      return have().engine.work({
        slots,
        leaseMs,
        advance: (lease) => advance(lease, { questionMs }),
        onFault,
      });
    },
    ...seeAll(have),
  };
}

/** A program that has the store sees all of it. */
function seeAll(have: () => Parts): Pick<DurableRuns, "get" | "cancel" | "questions" | "answer"> {
  return {
    get: (runId) => forAllTenants(() => have().journal.get(runId)),
    async cancel(runId) {
      const { journal, engine } = have();
      const cancelled = await forAllTenants(() => journal.cancel(runId));
      if (cancelled) await engine.wake(cancelled.rootId);
      return cancelled !== undefined;
    },
    questions: () =>
      forAllTenants(() => have().journal.questions({ status: "pending", limit: MOST_QUESTIONS })),
    async answer(questionId, answer) {
      const { journal, engine } = have();
      const outcome = await forAllTenants(() => journal.answer(questionId, answer));
      if (outcome.kind === "taken") await engine.wake(outcome.question.rootId);
      return outcome;
    },
  };
}

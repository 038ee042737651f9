/**
 * `metier.durable`: runs that survive their process. A run is a row in the journal first; workers advance it, here or in any
 * other process on the same journal; a question waits as a row until somebody answers.
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
  /** Where durable runs are recorded; with `engine`, it makes `metier.durable` work. */
  readonly journal?: JournalStore;
  /** Who advances durable runs, and when. */
  readonly engine?: RunEngine;
  /** Where work folders of durable runs are kept. Default: a run goes on only where its folder is. */
  readonly snapshots?: SnapshotStore;
}

/** How a worker works. */
export interface WorkerOptions {
  /** How many runs it advances at the same time. Default: 4. */
  readonly slots?: number | undefined;
  /** How long another worker waits before it takes over a run whose worker is silent, in milliseconds. Default: 10,000. */
  readonly leaseMs?: number | undefined;
  /** How long a question waits for an answer, in milliseconds. Default: for ever. */
  readonly questionMs?: number | undefined;
  /** Hears of faults of the store. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/** How a durable run is recorded. */
export interface DurableRunOptions {
  /** The id of the run; if a run with this id exists, nothing is started. Default: a new one. */
  readonly runId?: string;
}

/** Runs that survive their process. */
export interface DurableRuns {
  /** The run is recorded and waits for a worker. Gives its id. */
  start(order: RunOrder, options?: DurableRunOptions): Promise<string>;
  /** The next turn of a conversation; `previous` names the run of the turn before it, which has ended. */
  send(order: TurnOrder, options?: DurableRunOptions): Promise<string>;
  /** For an engine of the program: goes on with a run that it holds. */
  advance(lease: RunLease, options?: Pick<WorkerOptions, "questionMs">): Promise<AdvanceOutcome>;
  /** Advances runs until it is stopped. */
  work(options?: WorkerOptions): EngineWorker;
  /** How a run stands, with its result once it has ended. */
  get(runId: string): Promise<DurableRun | undefined>;
  /** `false`: there is none, or it has ended. */
  cancel(runId: string): Promise<boolean>;
  /** What waits for a person. */
  questions(): Promise<readonly Question[]>;
  /** Counted once; the run goes on. */
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

/** Kept, since Node looks a module up again at every `import()`. */
const loadEngine = once(() => import("@metier/run/engine"));

const DEFAULT_SLOTS = 4;
const DEFAULT_LEASE_MS = 10_000;
const MOST_QUESTIONS = 1000;

/** The lease names a run, and only the run says whose it is; whoever calls for a tenant has looked already. */
async function tenantOf({ runId }: RunLease, store: JournalStore): Promise<string | undefined> {
  return ownTenant() ?? (await forAllTenants(() => store.get(runId)))?.tenant;
}

type Parts = Required<Pick<DurabilityOptions, "journal" | "engine">>;

function requireParts({ journal, engine }: DurabilityOptions): Parts {
  if (journal && engine) return { journal, engine };
  throw new UsageError("Runs are not durable here: `createMetier` was given no `journal` or no `engine`.", {
    hint: "Pass both, such as those that `openLocal` of `metier/durable` opens.",
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

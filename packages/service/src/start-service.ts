/**
 * `startService`: the API, a worker and the sweep over one store and one engine, until `stop`. Whoever calls it brings what
 * is outside of this room: how a run is advanced, which skills there are, where work folders lie, how secrets are sealed.
 */

import type {
  AdvanceOutcome,
  JournalStore,
  NoticeBus,
  RecordStore,
  RunEngine,
  RunLease,
} from "@metier/durable";
import type { RunEvent } from "@metier/run/events";
import { buildApp } from "./http/build-app.ts";
import { type Listener, listen } from "./http/listen.ts";
import { type PageOpening, pageRoutes } from "./http/page-routes.ts";
import { createRunMetrics } from "./http/run-metrics.ts";
import type { ServedPage } from "./http/serve-page.ts";
import { createServiceLog } from "./http/service-log.ts";
import { createServiceMetrics } from "./http/service-metrics.ts";
import { createStreamCount } from "./http/stream-count.ts";
import type { Insight } from "./insight/insight.ts";
import { checkAdminKey } from "./keys/authenticate.ts";
import { DEFAULT_TENANT } from "./keys/identity.ts";
import type { KeyStore } from "./keys/key-store.ts";
import type { OidcSettings } from "./keys/oidc-settings.ts";
import { openDoor } from "./keys/open-door.ts";
import { KEY_SCOPES } from "./keys/scopes.ts";
import { allRoutes } from "./routes/all-routes.ts";
import { SYSTEM_ROUTES } from "./routes/system-routes.ts";
import { createRunNotices, type RunNotices, watchJournal } from "./runs/run-notices.ts";
import { type SharedNotices, shareNotices } from "./runs/share-notices.ts";
import type { ServiceContext, ServiceLimits, ServiceTimes } from "./service-context.ts";
import type { SkillShelf } from "./shelf/skill-shelf.ts";
import { startSweep } from "./sweep.ts";
import { startForgetting } from "./tenants/forget-elsewhere.ts";
import { startOwnWorker } from "./workers/start-worker.ts";
import { openWorkerRegistry } from "./workers/worker-registry.ts";

export interface ServiceOptions {
  readonly store: { readonly journal: JournalStore; readonly records: RecordStore };
  readonly engine: RunEngine;
  /** Other processes on the same store. Left out: there are none. */
  readonly bus?: NoticeBus | undefined;
  /**
   * Makes what advances a run, on a journal that tells open event streams of each write: it must write to this one, and tell
   * `onEvent` of each event. Left out: this process only answers requests, and workers elsewhere advance.
   */
  readonly openAdvance?: (
    journal: JournalStore,
    notices: Pick<RunNotices, "wrote">,
    onEvent: (event: RunEvent) => void,
  ) => (lease: RunLease) => Promise<AdvanceOutcome>;
  /** It only advances runs, and answers nothing but whether it is alive and how it does. */
  readonly isWorker?: boolean | undefined;
  readonly shelf: SkillShelf;
  /** What can be told about the skills of this machine. */
  readonly insight: Insight;
  /** Seal the secrets that clients write. */
  readonly tenantKeys: ServiceContext["tenantKeys"];
  /** The work folder of a run on this machine. */
  readonly workFolder: (runId: string) => Promise<string | undefined>;
  /** Folders of this machine, such as the home folder, each with the name that clients see in its place. */
  readonly hiddenFolders?: ServiceContext["hiddenFolders"];
  /** After old runs were removed: removes what only they needed, such as snapshots. Default: nothing. */
  readonly tidy?: () => Promise<void>;
  /** `METIER_ADMIN_KEY`. Left out: an admin key is made when there is none, and given back once. */
  readonly adminKey?: string | undefined;
  /** Whose tokens are taken, and who signs people in on the page. Left out: keys only. */
  readonly oidc?: OidcSettings | undefined;
  /** What is kept of runs, users and tenants beside journal, engine and records. Default: nothing. */
  readonly forget?: Partial<ServiceContext["forget"]>;
  /** Which addresses of tenants may be asked. Default: public ones. */
  readonly egress?: ServiceContext["egress"];
  /** Whether a tenant without models is told so at once. Default: its run says it. */
  readonly needsModels?: boolean;
  /** How many bytes a tenant has stored. Default: nobody counts. */
  readonly storedBytes?: ServiceContext["storedBytes"];
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** How many runs are advanced at the same time. Default: 8. */
  readonly slots?: number;
  /** Default: 10 s. */
  readonly leaseMs?: number;
  readonly version?: string;
  /** Left out: it is for many, each with a key. */
  readonly person?: ServiceContext["person"];
  /** Left out: this service works on all runs of its journal. */
  readonly findOwner?: ServiceContext["findOwner"];
  /** Tells of what other processes write, as long as the service runs. */
  readonly watch?: (notices: Pick<RunNotices, "changed" | "tell">) => { stop(): void };
  /** The inspector. Left out: there is only the API. */
  readonly page?: ServedPage | undefined;
  /** A way into the page without typing a key. */
  readonly opening?: PageOpening;
  /** Left out: no rule can be written over the API. */
  readonly rules?: ServiceContext["rules"];
  readonly limits?: Partial<ServiceLimits>;
  readonly times?: Partial<ServiceTimes>;
  /** Gets each line of the log, JSON without a line end. Default: nothing is logged. */
  readonly printLog?: (line: string) => void;
  /** Default: the clock. */
  readonly now?: () => number;
}

export interface RunningService {
  readonly url: string;
  /** Made just now, because there was none: show it once. */
  readonly adminKey?: string;
  /** Resolves when an operator has let it drain and no run is advanced here any more. */
  readonly drained: Promise<void>;
  /** Takes no more requests, ends streams, gives runs back at their next step. Gone within `graceMs`, 8 s unless told. */
  stop(graceMs?: number): Promise<void>;
}

const LIMITS: ServiceLimits = {
  bodyBytes: 2 * 1024 * 1024,
  uploadBytes: 32 * 1024 * 1024,
  streamsPerKey: 1_000,
  failedSignIns: 100,
};
const TIMES: ServiceTimes = { heartbeatMs: 15_000, pollMs: 2_000, sweepMs: 1_000 };
const FORGET_NOTHING: ServiceContext["forget"] = {
  run: async () => undefined,
  user: async () => undefined,
  tenant: async () => undefined,
};
const GRACE_MS = 8_000;
const DEFAULT_HOST = "127.0.0.1";
/** Who made the first key, in the audit log. */
const FIRST_START = "first start";

/** Throws `UsageError` for an admin key that cannot be used, and where it cannot listen. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { engine, adminKey, host = DEFAULT_HOST, port = 0, now = Date.now } = options;
  if (adminKey !== undefined) checkAdminKey(adminKey);
  const stopping = new AbortController();
  const notices = openNotices(options.bus);
  const context = makeContext(options, notices, now, stopping.signal);
  const app = options.isWorker
    ? await buildApp(SYSTEM_ROUTES, [], context)
    : await buildApp(allRoutes(context.version), pageRoutes(options, context), context);
  const listener = await listen(app, { host, port });
  await context.tenants.makeDefault();
  // Only now: a key that is made by a start that fails would never be shown.
  const needsKey = adminKey === undefined && !options.isWorker;
  const made = needsKey ? await makeFirstKey(context.keys, now()) : undefined;
  const advance = options.openAdvance?.(context.journal, context.notices, context.runMetrics.take);
  const { slots = 8, leaseMs = 10_000 } = options;
  const work = advance && { engine, advance, slots, leaseMs, drainMs: GRACE_MS };
  const worker = work && (await startOwnWorker(work, context));
  const sweep = options.isWorker ? undefined : startSweep(context);
  const forgetting = startForgetting(context);
  const watch = options.watch?.(context.notices);
  context.log.write("info", "started", { url: listener.url });
  let stopped: Promise<void> | undefined;
  return {
    url: listener.url,
    drained: worker?.drained ?? new Promise(() => undefined),
    ...(made !== undefined && { adminKey: made }),
    stop(graceMs = GRACE_MS) {
      stopped ??= stopAll(listener, graceMs, async () => {
        stopping.abort();
        watch?.stop();
        notices.stop();
        await Promise.all([worker?.stop(graceMs), sweep?.stop(), forgetting?.stop()]);
        context.log.write("info", "stopped");
      });
      return stopped;
    },
  };
}

async function stopAll(listener: Listener, graceMs: number, stopRest: () => Promise<void>): Promise<void> {
  await Promise.all([stopRest(), listener.close(graceMs)]);
}

function openNotices(bus: NoticeBus | undefined): SharedNotices {
  const local = createRunNotices();
  return bus ? shareNotices(local, bus) : { ...local, stop: () => undefined };
}

function makeContext(
  options: ServiceOptions,
  notices: RunNotices,
  now: () => number,
  stopping: AbortSignal,
): ServiceContext {
  const {
    store,
    engine,
    shelf,
    insight,
    tenantKeys,
    workFolder,
    hiddenFolders = [],
    adminKey,
    printLog,
  } = options;
  const limits = { ...LIMITS, ...options.limits };
  const metrics = createServiceMetrics();
  return {
    journal: watchJournal(store.journal, notices),
    records: store.records,
    engine,
    ...openDoor({
      records: store.records,
      adminKey,
      oidc: options.oidc,
      host: options.host ?? DEFAULT_HOST,
      mostFailures: limits.failedSignIns,
      now,
      onFailure: () => metrics.count("metier_sign_ins_failed_total"),
    }),
    version: options.version ?? "0.0.0",
    person: options.person,
    findOwner: options.findOwner ?? (async () => undefined),
    rules: options.rules,
    shelf,
    insight,
    ...(options.page?.exportView && { exportView: options.page.exportView }),
    tenantKeys,
    workers: openWorkerRegistry(store.records, now),
    runMetrics: createRunMetrics(),
    egress: options.egress ?? { privateHosts: [] },
    needsModels: options.needsModels ?? false,
    storedBytes: options.storedBytes ?? (async () => 0),
    notices,
    streams: createStreamCount(limits.streamsPerKey),
    metrics,
    log: createServiceLog((line) => printLog?.(line), now),
    limits,
    times: { ...TIMES, ...options.times },
    hasAdminKey: adminKey !== undefined,
    hiddenFolders,
    workFolder,
    forget: { ...FORGET_NOTHING, ...options.forget },
    tidy: options.tidy ?? (async () => undefined),
    now,
    stopping,
  };
}

/** Nobody could make the first key over the API, so it is made here. */
async function makeFirstKey(keys: KeyStore, now: number): Promise<string | undefined> {
  if ((await keys.admins(now)).length > 0) return undefined;
  const first = { tenant: DEFAULT_TENANT, name: "first admin", scopes: KEY_SCOPES };
  const { text } = await keys.create(first, FIRST_START);
  return text;
}

/**
 * `startService`: the API, a worker and the sweep on one store and engine, until `stop`. The caller provides what is
 * outside of this room: how runs advance, which skills exist, where work folders are, how secrets are sealed.
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
import { ALL_PROTOCOLS } from "./protocols/all-protocols.ts";
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
  /** Other processes on the same store. Absent: there are none. */
  readonly bus?: NoticeBus | undefined;
  /**
   * Creates the function that advances a run, on a journal that notifies open event streams of each write: it must
   * write to this one, and pass each event to `onEvent`. Absent: this process only answers requests, and workers
   * elsewhere advance runs.
   */
  readonly openAdvance?: (
    journal: JournalStore,
    notices: Pick<RunNotices, "wrote">,
    onEvent: (event: RunEvent) => void,
  ) => (lease: RunLease) => Promise<AdvanceOutcome>;
  /** It only advances runs, and answers only health and metrics. */
  readonly isWorker?: boolean | undefined;
  readonly shelf: SkillShelf;
  /** Reports about this machine's skills. */
  readonly insight: Insight;
  /** Seal the secrets that clients write. */
  readonly tenantKeys: ServiceContext["tenantKeys"];
  /** A run's work folder on this machine. */
  readonly workFolder: (runId: string) => Promise<string | undefined>;
  /** This machine's folders, such as the home folder, each with the name that clients see instead. */
  readonly hiddenFolders?: ServiceContext["hiddenFolders"];
  /** After old runs were removed: removes what only they needed, such as snapshots. Default: nothing. */
  readonly tidy?: () => Promise<void>;
  /** `METIER_ADMIN_KEY`. Absent: an admin key is created if there is none, and returned once. */
  readonly adminKey?: string | undefined;
  /** Whose tokens are accepted, and who signs people in on the page. Absent: keys only. */
  readonly oidc?: OidcSettings | undefined;
  /** What is stored about runs, users and tenants besides journal, engine and records. Default: nothing. */
  readonly forget?: Partial<ServiceContext["forget"]>;
  /** Which tenant addresses may be contacted. Default: public ones. */
  readonly egress?: ServiceContext["egress"];
  /** Whether a tenant without models is refused immediately. Default: its run reports it. */
  readonly needsModels?: boolean;
  /** How many bytes a tenant has stored. Default: not counted. */
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
  /** Absent: it is for many, each with a key. */
  readonly person?: ServiceContext["person"];
  /** Absent: this service works on all runs of its journal. */
  readonly findOwner?: ServiceContext["findOwner"];
  /** Reports what other processes write, while the service runs. */
  readonly watch?: (notices: Pick<RunNotices, "changed" | "tell">) => { stop(): void };
  /** The inspector. Absent: there is only the API. */
  readonly page?: ServedPage | undefined;
  /** A way into the page without typing a key. */
  readonly opening?: PageOpening;
  /** Absent: rules can't be written over the API. */
  readonly rules?: ServiceContext["rules"];
  readonly limits?: Partial<ServiceLimits>;
  readonly times?: Partial<ServiceTimes>;
  /** Receives each log line, as JSON without a line break. Default: nothing is logged. */
  readonly printLog?: (line: string) => void;
  /** Default: the clock. */
  readonly now?: () => number;
}

export interface RunningService {
  readonly url: string;
  /** Just created because there was none: show it once. */
  readonly adminKey?: string;
  /** Resolves when an operator has drained it and it advances no more runs. */
  readonly drained: Promise<void>;
  /**
   * Takes no more requests, ends streams, and returns runs at their next step. Gone within `graceMs`, by default 8 s.
   */
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
/** Who created the first key, in the audit log. */
const FIRST_START = "first start";

/** Throws `UsageError` for an invalid admin key, and if it can't listen. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { engine, adminKey, host = DEFAULT_HOST, port = 0, now = Date.now } = options;
  if (adminKey !== undefined) checkAdminKey(adminKey);
  const stopping = new AbortController();
  const notices = openNotices(options.bus);
  const context = makeContext(options, notices, now, stopping.signal);
  // One person looks at a page: no other client is meant to come.
  const protocols = options.person ? [] : ALL_PROTOCOLS;
  const app = options.isWorker
    ? await buildApp(SYSTEM_ROUTES, [], context)
    : await buildApp(allRoutes(context.version), pageRoutes(options, context), context, protocols);
  const listener = await listen(app, { host, port });
  await context.tenants.makeDefault();
  // Only now: a key created by a failed start would never be shown.
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

/** Nobody could create the first key over the API, so it is created here. */
async function makeFirstKey(keys: KeyStore, now: number): Promise<string | undefined> {
  if ((await keys.admins(now)).length > 0) return undefined;
  const first = { tenant: DEFAULT_TENANT, name: "first admin", scopes: KEY_SCOPES };
  const { text } = await keys.create(first, FIRST_START);
  return text;
}

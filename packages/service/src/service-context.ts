/** What handlers work with: the stores, the engine, and what the service keeps while it runs. Made once, at the start. */

import type { Result } from "@metier/base/result";
import type { JournalStore, RecordStore, RunEngine } from "@metier/durable";
import type { TenantKeys } from "@metier/durable/snapshots";
import type { Caller } from "@metier/run";
import type { RunMetrics } from "./http/run-metrics.ts";
import type { ServedPage } from "./http/serve-page.ts";
import type { ServiceLog } from "./http/service-log.ts";
import type { ServiceMetrics } from "./http/service-metrics.ts";
import type { StreamCount } from "./http/stream-count.ts";
import type { Insight } from "./insight/insight.ts";
import type { Identity } from "./keys/identity.ts";
import type { ServiceDoor } from "./keys/open-door.ts";
import type { TenantEgress } from "./providers/private-hosts.ts";
import type { RunNotices } from "./runs/run-notices.ts";
import type { SkillShelf } from "./shelf/skill-shelf.ts";
import type { WorkerRegistry } from "./workers/worker-registry.ts";

export interface ServiceLimits {
  /** Of a JSON body. */
  readonly bodyBytes: number;
  /** Of an uploaded archive, packed. */
  readonly uploadBytes: number;
  /** Open event streams of one key. */
  readonly streamsPerKey: number;
  /** Wrong keys from one address within a minute. */
  readonly failedSignIns: number;
}

export interface ServiceTimes {
  /** Between two signs of life on a quiet event stream. */
  readonly heartbeatMs: number;
  /** How often a stream looks by itself, should no notice come. */
  readonly pollMs: number;
  /** Between two looks for due schedules and expired questions. */
  readonly sweepMs: number;
}

/** What an approval can become: a rule of the user's config. */
interface RuleEditing {
  mayEdit(identity: Identity): boolean;
  /** Patterns of calls that are allowed from now on. */
  allow(patterns: readonly string[]): Promise<Result<undefined>>;
}

/** Of a run that another process works on: why nothing is done with it here, and who can. */
export interface RunElsewhere {
  readonly message: string;
  readonly hint: string;
}

/** The one person whom an inspector is for, at their own machine. */
export interface InspectingPerson {
  /** Who asks, in runs that are started here. */
  readonly caller: Caller;
  /** Why no run can be started here; absent: they can. */
  readonly noRuns?: RunElsewhere | undefined;
}

/** What is kept beside journal, engine and records; each may be called again for what is gone already. */
interface ForgetParts {
  /** Folders of a run. */
  run(runId: string): Promise<void>;
  /** What capabilities keep of a user. */
  user(tenant: string, userId: string): Promise<void>;
  /** Uploaded skills and whatever else is a tenant's. */
  tenant(tenant: string): Promise<void>;
  /** The file in which this machine notes whom it has forgotten. Absent: it is the only machine. */
  readonly notes?: string | undefined;
}

export interface ServiceContext extends ServiceDoor {
  /** Whoever writes through it wakes the streams of that run. */
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  readonly version: string;
  /** Absent: a service for many. */
  readonly person?: InspectingPerson | undefined;
  /** `undefined`: it is this service that works on the run. */
  findOwner(runId: string): Promise<RunElsewhere | undefined>;
  /** Absent: no rule can be written from here. */
  readonly rules?: RuleEditing | undefined;
  readonly shelf: SkillShelf;
  /** Absent: there is no page. */
  readonly exportView?: ServedPage["exportView"];
  readonly insight: Insight;
  readonly tenantKeys: Pick<TenantKeys, "of" | "destroy">;
  /** Which processes advance runs. */
  readonly workers: WorkerRegistry;
  /** What happens in runs that this process advances, counted. */
  readonly runMetrics: RunMetrics;
  /** Which addresses of tenants may be asked. */
  readonly egress: TenantEgress;
  /** Whether a tenant without models is told so at once; otherwise its run says it. */
  readonly needsModels: boolean;
  /** How many bytes a tenant has stored. */
  storedBytes(tenant: string): Promise<number>;
  readonly notices: RunNotices;
  readonly streams: StreamCount;
  readonly metrics: ServiceMetrics;
  readonly log: ServiceLog;
  readonly limits: ServiceLimits;
  readonly times: ServiceTimes;
  /** Whether METIER_ADMIN_KEY is set: then the last admin key may be revoked. */
  readonly hasAdminKey: boolean;
  /** Folders of this machine, each with the name that clients see in its place. */
  readonly hiddenFolders: readonly (readonly [folder: string, shown: string])[];
  /** The work folder of a run, if it is on this machine. */
  workFolder(runId: string): Promise<string | undefined>;
  readonly forget: ForgetParts;
  /** After old runs were removed: what only they needed. */
  tidy(): Promise<void>;
  now(): number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

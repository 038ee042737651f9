/** What handlers work with: the stores, the engine, and the service's own state. Created once, at startup. */

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
  /** For a JSON body. */
  readonly bodyBytes: number;
  /** For an uploaded archive, packed. */
  readonly uploadBytes: number;
  /** Open event streams per key. */
  readonly streamsPerKey: number;
  /** Wrong keys from one address within a minute. */
  readonly failedSignIns: number;
}

export interface ServiceTimes {
  /** Between two heartbeats on a quiet event stream. */
  readonly heartbeatMs: number;
  /** How often a stream checks on its own, if no notice arrives. */
  readonly pollMs: number;
  /** Between two checks for due schedules and expired questions. */
  readonly sweepMs: number;
}

/** Turns an approval into a rule of the user's config. */
interface RuleEditing {
  mayEdit(identity: Identity): boolean;
  /** Patterns of calls that are allowed from now on. */
  allow(patterns: readonly string[]): Promise<Result<undefined>>;
}

/** For a run in another process: why nothing can be done here, and who can. */
export interface RunElsewhere {
  readonly message: string;
  readonly hint: string;
}

/** The one person an inspector is for, on their own machine. */
export interface InspectingPerson {
  /** The caller of runs started here. */
  readonly caller: Caller;
  /** Why runs can't be started here; absent: they can. */
  readonly noRuns?: RunElsewhere | undefined;
}

/** What is stored besides journal, engine and records; each call can be repeated for what is already gone. */
interface ForgetParts {
  /** Folders of a run. */
  run(runId: string): Promise<void>;
  /** What capabilities store about a user. */
  user(tenant: string, userId: string): Promise<void>;
  /** Uploaded skills and everything else of a tenant. */
  tenant(tenant: string): Promise<void>;
  /** The file in which this machine records whom it has forgotten. Absent: it is the only machine. */
  readonly notes?: string | undefined;
}

export interface ServiceContext extends ServiceDoor {
  /** Writing through it wakes the streams of that run. */
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  readonly version: string;
  /** Absent: a service for many. */
  readonly person?: InspectingPerson | undefined;
  /** `undefined`: this service works on the run. */
  findOwner(runId: string): Promise<RunElsewhere | undefined>;
  /** Absent: rules can't be written from here. */
  readonly rules?: RuleEditing | undefined;
  readonly shelf: SkillShelf;
  /** Absent: there is no page. */
  readonly exportView?: ServedPage["exportView"];
  readonly insight: Insight;
  readonly tenantKeys: Pick<TenantKeys, "of" | "destroy">;
  /** Which processes advance runs. */
  readonly workers: WorkerRegistry;
  /** Counts events of runs that this process advances. */
  readonly runMetrics: RunMetrics;
  /** Which tenant addresses may be contacted. */
  readonly egress: TenantEgress;
  /** Whether a tenant without models is refused immediately; otherwise its run reports it. */
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
  /** This machine's folders, each with the name that clients see instead. */
  readonly hiddenFolders: readonly (readonly [folder: string, shown: string])[];
  /** A run's work folder, if it is on this machine. */
  workFolder(runId: string): Promise<string | undefined>;
  readonly forget: ForgetParts;
  /** After old runs were removed: removes what only they needed. */
  tidy(): Promise<void>;
  now(): number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

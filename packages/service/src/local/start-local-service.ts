/**
 * The API and a worker in one process: all state in one folder under the home, or in a shared database. What `metier
 * serve` starts.
 */
import { join } from "node:path";
import { UsageError } from "@metier/base/errors";
import { tryToRemove } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { metierPlaces, type Places, VERSION } from "@metier/base/places";
import { done, type Result } from "@metier/base/result";
import type { SnapshotLimits } from "@metier/durable/local";
import type { ImportCounts } from "@metier/durable/postgres";
import { forgetTenantData, forgetUserData } from "@metier/run";
import { runFolder } from "@metier/run/events";
import { allowForGood } from "@metier/skills/config";
import { isPlatformAdmin } from "../keys/identity.ts";
import { readOidcSettings } from "../keys/oidc-settings.ts";
import { readPrivateHosts } from "../providers/private-hosts.ts";
import { collectSnapshots } from "../shared/needed-snapshots.ts";
import { settleImport } from "../shared/settle-import.ts";
import { type RunningService, type ServiceOptions, startService } from "../start-service.ts";
import { callerTenant } from "./advance-runs.ts";
import { openRunner, type RunnerOptions } from "./open-runner.ts";
import { openServiceState, requireSandbox, type ServiceState, type SharedPlaces } from "./open-state.ts";

interface LocalServiceOptions
  extends Omit<RunnerOptions, "egress">,
    Pick<ServiceOptions, "host" | "port" | "slots" | "leaseMs" | "printLog" | "times" | "page" | "isWorker"> {
  /** Replaces the OS home. */
  readonly home?: string | undefined;
  /** The most bytes for snapshots of work folders. */
  readonly snapshots?: SnapshotLimits | undefined;
  /** Absent: all state is under the home. */
  readonly shared?: SharedPlaces | undefined;
  /** All state under the home is moved there first. */
  readonly isImport?: boolean | undefined;
}

interface LocalService extends RunningService {
  /** What was just moved. */
  readonly imported?: ImportCounts | undefined;
}

/** Refused if there is no sandbox, a setting is invalid, or the state can't be opened. */
export async function startLocalService(options: LocalServiceOptions): Promise<Result<LocalService>> {
  const { home, environment, snapshots, shared, isImport } = options;
  const sandbox = await requireSandbox(environment);
  if (!sandbox.ok) return sandbox;
  const privateHosts = readPrivateHosts(environment);
  if (!privateHosts.ok) return privateHosts;
  const egress = { privateHosts: privateHosts.value };
  const oidc = readOidcSettings(environment);
  if (!oidc.ok) throw new UsageError(oidc.refusal.message, presentFields({ hint: oidc.refusal.hint }));
  const places = metierPlaces(home, environment);
  const folder = join(places.state, "service");
  const state = await openServiceState({ folder, environment, snapshots, shared, isImport });
  if (!state.ok) return state;
  try {
    const service = await startOver(
      state.value,
      { ...options, egress, oidc: oidc.value },
      { places, folder },
    );
    let stopped: Promise<void> | undefined;
    return done({
      ...service,
      imported: state.value.imported?.counts,
      stop(graceMs) {
        stopped ??= service.stop(graceMs).then(() => state.value.close());
        return stopped;
      },
    });
  } catch (fault) {
    await state.value.close();
    throw fault;
  }
}

async function startOver(
  state: ServiceState,
  options: LocalServiceOptions & Pick<RunnerOptions, "egress"> & Pick<ServiceOptions, "oidc">,
  { places, folder }: { readonly places: Places; readonly folder: string },
): Promise<RunningService> {
  const { journal, records, engine, snapshots, keys, bus, imported } = state;
  const runner = await openRunner(state, options, { places, folder });
  const { skills, capabilities, advance, workFolder } = runner;
  if (imported) await settleImport({ journal, records, shelf: skills.shelf, ...imported });
  const service = await startService({
    ...options,
    store: { journal, records },
    engine,
    bus,
    ...skills,
    // In runs, `.` is the work folder.
    hiddenFolders: [
      [places.home, "~"],
      [process.cwd(), "cwd:"],
    ],
    tenantKeys: keys,
    needsModels: true,
    storedBytes: (tenant) => snapshots.bytes(tenant),
    // Without slots it only answers requests, and workers elsewhere advance runs.
    ...(options.slots !== 0 && { openAdvance: advance }),
    forget: {
      ...(bus && { notes: join(folder, "forgotten") }),
      run: async (runId) => tryToRemove(runFolder(places, runId).folder),
      async user(tenant, userId) {
        const user = { userId, tenantId: callerTenant(tenant) };
        await capabilities.forget(user);
        forgetUserData(places, user);
      },
      async tenant(tenant) {
        await capabilities.forget({ tenantId: tenant });
        forgetTenantData(places, tenant);
        skills.shelf.forget(tenant);
        await snapshots.clear(tenant);
      },
    },
    tidy: async () => void (await collectSnapshots(state)),
    workFolder,
    adminKey: options.environment.METIER_ADMIN_KEY,
    rules: editableByAdmins(places.configFile),
    version: VERSION,
  });
  return {
    ...service,
    async stop(graceMs) {
      runner.close();
      await service.stop(graceMs);
    },
  };
}

function editableByAdmins(configFile: string): ServiceOptions["rules"] {
  return {
    // The config belongs to the whole service, so no other tenant's admin may write to it.
    mayEdit: isPlatformAdmin,
    allow: (patterns) => allowForGood(configFile, patterns),
  };
}

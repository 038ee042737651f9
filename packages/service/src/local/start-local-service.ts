/**
 * Everything in one process on one machine: the API, a worker, and all state in one folder under the home. What `metier serve`
 * starts.
 */
import { join } from "node:path";
import { metierPlaces, VERSION } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import type { JournalStore } from "@metier/durable";
import type { SnapshotLimits } from "@metier/durable/local";
import { openLocal } from "@metier/durable/sqlite";
import { type RunEvent, runFolder } from "@metier/run/events";
import { createMetier, type Metier, type MetierOptions } from "@metier/runtime";
import { chooseSandbox, explainAbsence } from "@metier/sandbox";
import { allowForGood } from "@metier/skills/config";
import type { RunNotices } from "../runs/run-notices.ts";
import { type RunningService, type ServiceOptions, startService } from "../start-service.ts";
import { advanceRuns, listSecretNames } from "./advance-runs.ts";
import { HELD, ONLY_NAMED } from "./held-config.ts";
import { openSkills } from "./open-skills.ts";

interface LocalServiceOptions
  extends Pick<ServiceOptions, "host" | "port" | "slots" | "leaseMs" | "printLog" | "times" | "page"> {
  /** Replaces the OS home. */
  readonly home?: string | undefined;
  readonly environment: Environment;
  /** How long approvals and questions wait for an answer, in milliseconds. Default: for ever. */
  readonly questionMs?: number | undefined;
  /** Where workspaces of `metier eval` are looked for, beside the skills. Default: the working directory. */
  readonly evalFolders?: readonly string[];
  /** The most bytes that snapshots of work folders may take. */
  readonly snapshots?: SnapshotLimits | undefined;
  /** For the `Metier` of the service, such as models. */
  readonly metier?: MetierOptions;
}

const METIER = {
  trust: "grants",
  conflicts: "report",
  bundled: "unless-disabled",
  service: true,
} as const satisfies MetierOptions;

/** Refused: no sandbox, a folder that another process has, a key that cannot be used. */
export async function startLocalService(options: LocalServiceOptions): Promise<Result<RunningService>> {
  const { home, environment, snapshots } = options;
  const { sandbox, probes } = await chooseSandbox({ backend: "bubblewrap", environment });
  if (sandbox === undefined) return refuseWithoutSandbox(explainAbsence(probes));
  const folder = join(metierPlaces(home, environment).state, "service");
  const local = await openLocal({ folder, environment, isCaughtUpLater: true, snapshots });
  if (!local.ok) return local;
  try {
    const service = await startOver(local.value, options, folder);
    let stopped: Promise<void> | undefined;
    return done({
      ...service,
      stop(graceMs) {
        stopped ??= service.stop(graceMs).then(() => local.value.close());
        return stopped;
      },
    });
  } catch (fault) {
    await local.value.close();
    throw fault;
  }
}

type LocalState = Extract<Awaited<ReturnType<typeof openLocal>>, { readonly ok: true }>["value"];

async function startOver(
  { journal, records, engine, snapshots, keys }: LocalState,
  options: LocalServiceOptions,
  folder: string,
): Promise<RunningService> {
  const { environment } = options;
  const places = metierPlaces(options.home, environment);
  const open = (more: MetierOptions): Promise<Metier> =>
    createMetier({
      ...METIER,
      home: places.home,
      environment,
      journal,
      engine,
      snapshots,
      ...options.metier,
      config: HELD,
      ...more,
    });
  const own = await open({});
  const skills = openSkills({
    metier: own,
    records,
    folder,
    home: places.home,
    cwd: process.cwd(),
    openFolders: (paths, trustedPaths) => open({ paths, trustedPaths, bundled: false, config: ONLY_NAMED }),
    evalFolders: options.evalFolders ?? [process.cwd()],
    secretNames: (tenant) => listSecretNames(records, tenant),
  });
  const service = await startService({
    ...options,
    store: { journal, records },
    engine,
    ...skills,
    // In runs `.` is the work folder.
    hiddenFolders: [
      [places.home, "~"],
      [process.cwd(), "cwd:"],
    ],
    masterKey: keys,
    openAdvance: (watched, notices) =>
      advanceRuns({
        journal: watched,
        records,
        keys,
        shelf: skills.shelf,
        questionMs: options.questionMs,
        open: (more) => open({ ...more, onEvent: tellText(notices, options.metier?.onEvent) }),
      }),
    tidy: async () => void (await snapshots.collect(await journal.snapshots())),
    workFolder: async (runId) => runFolder(places, await firstTurn(journal, runId)).work,
    adminKey: environment.METIER_ADMIN_KEY,
    rules: editableByAdmins(places.configFile),
    version: VERSION,
  });
  return closeWith(service, skills.insight);
}

function closeWith(service: RunningService, insight: { close(): void }): RunningService {
  return {
    ...service,
    async stop(graceMs) {
      insight.close();
      await service.stop(graceMs);
    },
  };
}

function editableByAdmins(configFile: string): ServiceOptions["rules"] {
  return {
    mayEdit: ({ scopes }) => scopes.has("admin"),
    allow: (patterns) => allowForGood(configFile, patterns),
  };
}

function refuseWithoutSandbox(why: string): Result<never> {
  return refused({
    message: `The service does not start: ${why}`,
    hint: "A service runs skills for others, so it never runs them without a sandbox.",
  });
}

/** What a model is writing, for who follows its run; a listener of the embedding program hears everything. */
export function tellText(
  { wrote }: Pick<RunNotices, "wrote">,
  listener: MetierOptions["onEvent"],
): (event: RunEvent) => void {
  return (event) => {
    if (event.type === "text-delta") wrote(event.runId, event.text);
    listener?.(event);
  };
}

/** The turns of a conversation work in the folder of its first one. */
export async function firstTurn(journal: JournalStore, runId: string): Promise<string> {
  let first = runId;
  for (;;) {
    const previous = (await journal.get(first))?.order.previous;
    if (typeof previous !== "string") return first;
    first = previous;
  }
}

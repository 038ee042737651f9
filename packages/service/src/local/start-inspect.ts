/**
 * The inspector for one person on their own home, without a service: the API and a worker in this process, and a
 * journal in a temporary folder for runs started here. Their logs and files are kept like the command line's.
 * Everything else in the home is only read, so that any number of inspectors, a service and terminals work next to each
 * other.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { metierPlaces, type Places, VERSION } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { done, type Result } from "@metier/base/result";
import type { AdvanceOutcome, JournalStore, RecordStore, RunEngine, RunLease } from "@metier/durable";
import { openLocal } from "@metier/durable/sqlite";
import type { Caller } from "@metier/run";
import { runFolder } from "@metier/run/events";
import type { Metier, MetierOptions } from "@metier/runtime";
import { chooseSandbox, explainAbsence } from "@metier/sandbox";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { openKeyStore } from "../keys/key-store.ts";
import { KEY_SCOPES } from "../keys/scopes.ts";
import type { RunNotices } from "../runs/run-notices.ts";
import type { InspectingPerson, ServiceContext } from "../service-context.ts";
import { type RunningService, type ServiceOptions, startService } from "../start-service.ts";
import { openKeptJournal } from "./kept-journal.ts";
import { mergeJournals, openDurableReader } from "./merged-journal.ts";
import { firstTurn, tellText } from "./open-runner.ts";
import { openSkills } from "./open-skills.ts";
import { openTokens } from "./opening-tokens.ts";
import { watchElsewhere } from "./watch-elsewhere.ts";

interface InspectOptions extends Pick<ServiceOptions, "port" | "page" | "rules" | "printLog" | "times"> {
  /** Replaces the OS home. */
  readonly home?: string | undefined;
  readonly cwd: string;
  readonly environment: Environment;
  /** Who looks, and for whom runs are started. */
  readonly caller: Caller;
  /** Opens the person's `Metier`, with more options. */
  open(more: MetierOptions): Promise<Metier>;
}

interface RunningInspector {
  /** With the token that signs its reader in: for nobody else. */
  readonly address: string;
  /** The same for a program's arguments, which other users of this machine can see: it works once. */
  makeAddress(): string;
  /** Why runs can't be started; absent: they can. */
  readonly noRuns?: string;
  /** Ends runs that were started here, and removes what only they needed. */
  stop(): Promise<void>;
}

type LocalState = Extract<Awaited<ReturnType<typeof openLocal>>, { readonly ok: true }>["value"];

/** Keys, uploads and schedules belong to a service. */
const SCOPES = KEY_SCOPES.filter((scope) => !["admin", "write", "operate"].includes(scope));
const END_MS = 3_000;
const MOST_RUNS = 1_000;

/** Refused if this Node has no SQLite. */
export async function startInspect(options: InspectOptions): Promise<Result<RunningInspector>> {
  const folder = mkdtempSync(join(tmpdir(), "metier-inspect-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const local = await openLocal({ folder, environment: {} });
  if (!local.ok) {
    remove();
    return local;
  }
  const close = async (): Promise<void> => {
    await local.value.close();
    remove();
  };
  try {
    const { service, address, makeAddress, noRuns, end } = await startOver(local.value, options, folder);
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await endRuns(local.value);
      await service.stop(END_MS);
      await end();
      await close();
    };
    return done({
      address,
      makeAddress,
      ...(noRuns && { noRuns: noRuns.message }),
      stop() {
        stopped ??= stop();
        return stopped;
      },
    });
  } catch (fault) {
    await close();
    throw fault;
  }
}

interface StartedInspector extends Pick<InspectingPerson, "noRuns"> {
  readonly service: RunningService;
  readonly address: string;
  makeAddress(): string;
  end(): Promise<void>;
}

async function startOver(
  local: LocalState,
  options: InspectOptions,
  folder: string,
): Promise<StartedInspector> {
  const { records, engine, snapshots, keys } = local;
  const { environment, caller } = options;
  const places = metierPlaces(options.home, environment);
  const home = openHome(places, local.journal);
  const metier = await options.open({});
  const opened: Metier[] = [metier];
  const openForRuns = async (more: MetierOptions): Promise<Metier> => {
    const running = await options.open({ engine, snapshots, ...more });
    opened.push(running);
    return running;
  };
  const noRuns = await findNoRuns(metier, environment);
  const way = await openWayIn(records, caller);
  const skills = openPersonsSkills(options, { metier, records, snapshots, folder, home: places.home });
  const service = await startService({
    ...options,
    store: { journal: home.journal, records },
    engine,
    ...skills,
    tenantKeys: keys,
    openAdvance: (journal, notices, onEvent) =>
      advanceWith(home.findOwner, () =>
        openForRuns({ journal, onEvent: tellText(notices, onEvent, undefined) }),
      ),
    workFolder: async (runId) => runFolder(places, await firstTurn(home.journal, runId)).work,
    // Nobody has it: the person gets in with the token, and there is no one else.
    adminKey: randomBytes(32).toString("base64url"),
    opening: way.opening,
    person: { caller, noRuns },
    findOwner: home.findOwner,
    watch: home.watch,
    version: VERSION,
  });
  const addressWith = (token: string): string => `${service.url}/open?token=${token}`;
  return {
    service,
    noRuns,
    address: addressWith(way.lasting),
    makeAddress: () => addressWith(way.makeOnce()),
    async end() {
      skills.insight.close();
      home.close();
      await Promise.all(opened.map(({ capabilities }) => capabilities.close()));
    },
  };
}

function openPersonsSkills(
  { open, cwd }: InspectOptions,
  parts: Pick<Parameters<typeof openSkills>[0], "metier" | "records" | "snapshots" | "folder" | "home">,
) {
  return openSkills({
    ...parts,
    cwd,
    openFolders: (paths, trustedPaths) => open({ paths, trustedPaths, autoDiscover: false, bundled: false }),
    // The person at this machine has `metier mcp`.
    openServed: async () => parts.metier,
    secretNames: async () => [],
    evalFolders: [cwd],
  });
}

/** What is seen of the home besides this process's runs. */
function openHome(places: Places, own: JournalStore) {
  const serviceFolder = join(places.state, "service");
  const durable = openDurableReader(serviceFolder);
  return {
    ...mergeJournals({ own, kept: openKeptJournal(places), durable }),
    watch: (notices: Pick<RunNotices, "changed" | "tell">) =>
      watchElsewhere({ places, serviceFolder, durable, notices }),
    close: () => durable.close(),
  };
}

async function openWayIn(records: RecordStore, { userId }: Caller) {
  const wanted = { tenant: DEFAULT_TENANT, name: "inspect", scopes: SCOPES, userId };
  const { text: key } = await openKeyStore(records).create(wanted, "inspect");
  const { lasting, makeOnce, accepts } = openTokens();
  return { lasting, makeOnce, opening: { key, accepts } };
}

/** Opened for the first run; current trust and configuration decide each step. */
function advanceWith(findOwner: ServiceContext["findOwner"], open: () => Promise<Metier>) {
  let opened: Promise<Metier> | undefined;
  return async (lease: RunLease): Promise<AdvanceOutcome> => {
    if (await findOwner(lease.runId)) return { kind: "ended" }; // Only its owner may continue it.
    opened ??= open();
    const metier = await opened;
    await metier.reload();
    return metier.durable.advance(lease);
  };
}

async function findNoRuns(
  { config }: Metier,
  environment: Environment,
): Promise<NonNullable<ServiceContext["person"]>["noRuns"]> {
  const { backend } = config.config.sandbox;
  const { sandbox, probes } = await chooseSandbox({ backend, trust: "trusted", environment });
  if (sandbox !== undefined) return undefined;
  return {
    message: `Runs cannot be started here: ${explainAbsence(probes)}`,
    hint: "`metier doctor` shows what is missing. You can still look at skills and runs.",
  };
}

/** Cancels what would wait forever because its journal is removed, also in its log. */
async function endRuns({
  journal,
  engine,
}: {
  readonly journal: JournalStore;
  readonly engine: RunEngine;
}): Promise<void> {
  const isOpen = { status: ["queued", "running", "waiting"], isRoot: true, limit: MOST_RUNS } as const;
  for (const { id } of await journal.list(isOpen)) {
    await journal.cancel(id);
    await engine.wake(id);
  }
  const until = performance.now() + END_MS;
  while (performance.now() < until && (await journal.list({ ...isOpen, limit: 1 })).length > 0)
    await wait(50);
}

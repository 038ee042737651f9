/** A server and workers with homes of their own, over one store and one object store: what several machines are, in one process. */
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import type { NoticeBus } from "@metier/durable";
import { openSqliteEngine } from "@metier/durable/sqlite";
import type { MetierOptions } from "@metier/runtime";
import { onTestFinished } from "vitest";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import type { World } from "../../../../test/support/world.ts";
import { openRunner } from "../../src/local/open-runner.ts";
import { collectSnapshots } from "../../src/shared/needed-snapshots.ts";
import { type RunningService, startService } from "../../src/start-service.ts";
import { required, type SharedStores } from "./shelves.ts";

/** Nobody is told: whoever waits looks by itself. */
const SILENT: NoticeBus = { tell: () => undefined, onNotice: () => () => undefined };

export interface Machines {
  readonly server: RunningService;
  /** Begins to advance runs on a machine with this home; ends them with the test, or with the function it gives. */
  startWorker(world: World, metier: MetierOptions): Promise<() => Promise<void>>;
}

export async function openMachines(stores: SharedStores, world: World): Promise<Machines> {
  const { journal, records, snapshots, keys } = stores;
  const engine = required(openSqliteEngine({ file: join(temporaryFolder(), "engine.db") }));
  const state = { journal, records, engine, snapshots, keys, bus: SILENT, close: async () => undefined };
  const open = ({ home }: World, metier: MetierOptions) => {
    const environment = { PATH: process.env.PATH };
    const places = metierPlaces(home, environment);
    const options = { environment, metier, egress: { privateHosts: [] } };
    return openRunner(state, options, { places, folder: join(places.state, "service") });
  };
  const runner = await open(world, {});
  const server = await startService({
    store: { journal, records },
    engine,
    ...runner.skills,
    tenantKeys: keys,
    workFolder: runner.workFolder,
    forget: {
      run: async () => undefined,
      async tenant(tenant: string) {
        runner.skills.shelf.forget(tenant);
        await snapshots.clear(tenant);
      },
    },
    tidy: async () => void (await collectSnapshots(state)),
    adminKey: ADMIN_KEY,
    times: { sweepMs: 50 },
  });
  onTestFinished(async () => {
    runner.close();
    await server.stop(1_000);
    await engine.close();
  });
  return {
    server,
    async startWorker(home, metier) {
      const worker = await open(home, metier);
      const advance = worker.advance(journal, { wrote: () => undefined }, () => undefined);
      const onFault = (fault: unknown): void => {
        throw fault;
      };
      const working = engine.work({ slots: 2, leaseMs: 10_000, advance, onFault });
      let stopped: Promise<void> | undefined;
      const stop = (): Promise<void> => {
        stopped ??= working.stop(2_000).then(() => worker.close());
        return stopped;
      };
      onTestFinished(stop);
      return stop;
    },
  };
}

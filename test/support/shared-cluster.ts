/** The cluster that all tests of a run share: whoever needs it first starts it, in whichever process that is. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Cluster, startCluster } from "../../scripts/postgres/cluster.mjs";

/** Where `clean-environment.ts` wants it. */
const FOLDER = "METIER_TEST_POSTGRES";

type Known = Pick<Cluster, "superUrl" | "port" | "pid">;

export async function sharedCluster(): Promise<Cluster> {
  let started: Cluster | undefined;
  const known = await onlyOnce("cluster", async (folder): Promise<Known> => {
    started = await startCluster({
      folder: join(folder, "data"),
      isDetached: true,
      settings: { max_connections: 300 },
    });
    const { superUrl, port, pid } = started;
    return { superUrl, port, pid };
  });
  return started ?? fromKnown(known);
}

/** Made by whichever process of the test run asks first; all others wait for it and get the same, as JSON. */
export async function onlyOnce<Made>(name: string, make: (folder: string) => Promise<Made>): Promise<Made> {
  const folder = process.env[FOLDER];
  if (folder === undefined) throw new Error(`${FOLDER} is set by the set-up of the tests.`);
  const file = join(folder, `${name}.json`);
  try {
    mkdirSync(join(folder, `${name}-begun`));
  } catch {
    while (!existsSync(file)) await delay(50); // Another one makes it.
    return JSON.parse(readFileSync(file, "utf8")) as Made;
  }
  const made = await make(folder);
  // Whole or not there, for those who wait.
  writeFileSync(`${file}.new`, JSON.stringify(made));
  renameSync(`${file}.new`, file);
  return made;
}

function fromKnown(known: Known): Cluster {
  return {
    ...known,
    urls: (database) => ({
      adminUrl: `postgres://metier_admin@127.0.0.1:${known.port}/${database}`,
      url: `postgres://metier@127.0.0.1:${known.port}/${database}`,
    }),
    stop: async () => stopKnown(known),
  };
}

function stopKnown({ pid }: Known): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It has ended by itself.
  }
}

/** For the set-up of the tests: a place for the cluster; the function ends what is there. */
export function placeForCluster(folder: string): () => void {
  chmodSync(folder, 0o755); // The server is another user's where the tests are root's.
  process.env[FOLDER] = folder;
  return () => {
    const file = join(folder, "cluster.json");
    if (existsSync(file)) stopKnown(JSON.parse(readFileSync(file, "utf8")) as Known);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}

/**
 * `npm run stores`: a throw-away Postgres and S3 API on loopback, for trying services that share their state. Prints
 * the lines a shell needs to use them, and removes everything when it ends.
 *
 *   npm run --silent stores > stores.env &
 *   . ./stores.env
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDatabase, startCluster } from "./postgres/cluster.mjs";
import { startObjectStore } from "./postgres/object-store.mjs";
import { say } from "./setup/repository.mjs";

const DATABASE = "metier";

const folder = mkdtempSync(join(tmpdir(), "metier-stores-"));
// Postgres refuses to run as root, and its ordinary user needs access to its folder.
chmodSync(folder, 0o711);
try {
  const cluster = await startCluster({ folder: join(folder, "postgres"), isDurable: true });
  const { adminUrl, url } = makeDatabase(cluster, DATABASE);
  const objects = await startObjectStore({ folder: join(folder, "objects") });
  print({
    METIER_DATABASE_URL: url,
    METIER_DATABASE_ADMIN_URL: adminUrl,
    METIER_OBJECT_STORE: objects.url,
    ...objects.environment,
    METIER_MASTER_KEY: randomBytes(32).toString("hex"),
    METIER_ADMIN_KEY: `trial-${randomBytes(12).toString("hex")}`,
  });
  say(`Postgres and an object store are ready. Superuser: ${cluster.superUrl}`);
  say("Paste the lines above into your shells. Press Ctrl-C to remove everything.");
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  await objects.stop();
  await cluster.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {Readonly<Record<string, string>>} variables */
function print(variables) {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  process.stdout.write(`${lines.join("\n")}\n`);
}

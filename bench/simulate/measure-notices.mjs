/** What a notice costs the sender, and each connection that receives it. */
import postgres from "postgres";
import { readUse } from "./postgres-use.mjs";

const NOTICES = 2_000;
const PAYLOAD = JSON.stringify({ kind: "run", runId: "mwkg4kvc-9j952b" });
const FEW = 1;
const MANY = 60;

/**
 * Postgres wakes every connection that listens, no matter to what: `overhear` is the cost for one that listens to
 * something else.
 *
 * @param {import("../../scripts/postgres/cluster.mjs").Cluster} cluster
 * @param {string} url
 * @returns {Promise<Readonly<Record<"notify" | "deliver" | "overhear", number>>>} milliseconds of Postgres's processor time
 */
export async function measureNotices(cluster, url) {
  const few = await perNotice(cluster, url, { listeners: FEW, others: 0 });
  const many = await perNotice(cluster, url, { listeners: MANY, others: 0 });
  const beside = await perNotice(cluster, url, { listeners: FEW, others: MANY });
  const deliver = (many - few) / (MANY - FEW);
  return { notify: Math.max(0, few - deliver), deliver, overhear: Math.max(0, (beside - few) / MANY) };
}

/**
 * @param {import("../../scripts/postgres/cluster.mjs").Cluster} cluster
 * @param {string} url
 * @param {{ readonly listeners: number, readonly others: number }} options
 */
async function perNotice(cluster, url, { listeners, others }) {
  let heard = 0;
  /** @type {() => void} */
  let onLast = () => undefined;
  const connections = await Promise.all(
    Array.from({ length: listeners }, async () => {
      const sql = postgres(url, { max: 1 });
      await sql.listen("bench", () => {
        heard += 1;
        if (heard === NOTICES * listeners) onLast();
      });
      return sql;
    }),
  );
  for (let number = 0; number < others; number++) {
    const sql = postgres(url, { max: 1 });
    await sql.listen("other", () => undefined);
    connections.push(sql);
  }
  const teller = postgres(url, { max: 1 });
  await teller`SELECT 1`;
  const before = readUse(cluster);
  const last = new Promise((resolve) => {
    onLast = () => resolve(undefined);
  });
  // One after the other: if sent at once, many would share a payload.
  for (let number = 0; number < NOTICES; number++)
    await teller`SELECT pg_notify('bench', ${`${number} ${PAYLOAD}`})`;
  await last;
  const after = readUse(cluster);
  await Promise.all([...connections, teller].map((sql) => sql.end()));
  return (after.cpuMs - before.cpuMs) / NOTICES;
}

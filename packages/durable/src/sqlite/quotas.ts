/** Quotas in SQLite: counted in the transaction that creates a run. */
import type { NewDurableRun, QuotaFull, RunQuotas } from "../journal-store.ts";
import { type AskedQuota, DAY_MS, listQuotas, MINUTE_MS } from "../quotas.ts";
import type { Database } from "./open-database.ts";
import type { Row } from "./rows.ts";

interface Count {
  readonly used: number;
  readonly retryAt?: number | undefined;
}

/** The first quota that has no room for the run. Inside a transaction. */
export function findFullQuota(
  database: Database,
  run: NewDurableRun,
  quotas: RunQuotas | undefined,
): QuotaFull | undefined {
  const now = Date.now();
  for (const asked of listQuotas(quotas, run.userId)) {
    const count = countFor(database, run, asked, now);
    if (count.used >= asked.most) return { ...asked, ...count };
  }
  return undefined;
}

function countFor(
  database: Database,
  run: NewDurableRun,
  { of, quota, most }: AskedQuota,
  now: number,
): Count {
  const isUsers = of === "user" && run.userId !== undefined;
  const whose = [run.tenant, ...(isUsers ? [String(run.userId)] : [])];
  const where = `tenant = ? ${isUsers ? "AND user_id = ?" : ""}`;
  const all = (sql: string, ...values: readonly number[]): readonly Row[] =>
    database.statement(sql).all(...whose, ...values);
  if (quota === "startsPerMinute") {
    const sql = `SELECT created_at FROM runs WHERE ${where} AND parent_id IS NULL AND created_at > ? ORDER BY created_at DESC`;
    const starts = all(sql, now - MINUTE_MS);
    return {
      used: starts.length,
      retryAt: Number(starts[Math.max(most, 1) - 1]?.created_at ?? now) + MINUTE_MS,
    };
  }
  if (quota === "openRuns") {
    const sql = `SELECT count(*) AS used FROM runs WHERE ${where} AND parent_id IS NULL AND status IN ('queued', 'running', 'waiting')`;
    return { used: Number(all(sql)[0]?.used) };
  }
  const today = now - (now % DAY_MS);
  const column = quota === "tokensPerDay" ? "total_tokens" : "cost";
  const sql = `SELECT total(${column}) AS used FROM usage WHERE ${where} AND created_at >= ?`;
  return { used: Number(all(sql, today)[0]?.used), retryAt: today + DAY_MS };
}

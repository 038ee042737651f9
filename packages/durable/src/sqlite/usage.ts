/** What runs used, in SQLite: a small row for each root run that has ended, so that sums never read a result. */
import type { Json } from "@metier/base/json";
import { type UsageFilter, type UsageSum, usageOf } from "../usage.ts";
import type { Database } from "./open-database.ts";
import { type Row, readSum } from "./rows.ts";

/** Inside the transaction that ends the run. */
export function noteUsage(database: Database, runId: string, result: Json | undefined): void {
  const { inputTokens, outputTokens, totalTokens, cost } = usageOf(result);
  database
    .statement(
      `INSERT INTO usage (run_id, tenant, created_at, skill, user_id, input_tokens, output_tokens, total_tokens, cost, active_ms)
        SELECT id, tenant, created_at, skill, user_id, ?, ?, ?, ?, active_ms FROM runs WHERE id = ? AND parent_id IS NULL`,
    )
    .run(inputTokens, outputTokens, totalTokens, cost ?? null, runId);
}

const KEYS: Readonly<Record<UsageFilter["by"], string>> = {
  day: "date(created_at / 1000, 'unixepoch')",
  skill: "coalesce(skill, '')",
  user: "coalesce(user_id, '')",
};

export function sumUsage(database: Database, { tenant, by, from, to }: UsageFilter): readonly UsageSum[] {
  const rows: readonly Row[] = database
    .statement(
      `SELECT ${KEYS[by]} AS name, count(*) AS runs, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
        sum(total_tokens) AS total_tokens, total(cost) AS cost, count(*) - count(cost) AS without_cost, sum(active_ms) AS active_ms
        FROM usage WHERE tenant = ? AND created_at >= ? AND created_at < ? GROUP BY name ORDER BY name`,
    )
    .all(tenant, from, to);
  return rows.map(readSum);
}

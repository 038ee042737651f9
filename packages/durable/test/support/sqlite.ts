/** How the contract opens stores and engines on SQLite; also loaded by the processes that it starts. */
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import { openSqliteEngine } from "../../src/sqlite/open-engine.ts";
import { openSqliteStore } from "../../src/sqlite/open-store.ts";
import type { Opened } from "../contract/opened.ts";

export function open(place: string): Opened {
  const file = join(place, "state", "metier.db");
  const store = required(openSqliteStore({ file }));
  const engine = required(openSqliteEngine({ file }));
  return {
    ...store,
    engine,
    async close() {
      await engine.close();
      store.close();
    },
  };
}

export function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}

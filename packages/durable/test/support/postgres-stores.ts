/** Stores on Postgres for the contracts: each place has a database of its own. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newDatabase } from "../../../../test/support/postgres.ts";
import type { Stores } from "../contract/opened.ts";
import { DATABASE_FILE, open } from "./postgres.ts";

export const POSTGRES: Stores = {
  name: "Postgres",
  opener: fileURLToPath(new URL("./postgres.ts", import.meta.url)),
  async open(place) {
    const file = join(place, DATABASE_FILE);
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(await newDatabase()));
    return open(place);
  },
};

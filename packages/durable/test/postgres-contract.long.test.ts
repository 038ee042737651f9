/** Postgres keeps the contract. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import { describeCounting } from "./contract/counting-contract.ts";
import { describeJournal } from "./contract/journal-contract.ts";
import type { Stores } from "./contract/opened.ts";
import { describeRecords } from "./contract/record-contract.ts";
import { DATABASE_FILE, open } from "./support/postgres.ts";

const POSTGRES: Stores = {
  name: "Postgres",
  opener: fileURLToPath(new URL("./support/postgres.ts", import.meta.url)),
  async open(place) {
    const file = join(place, DATABASE_FILE);
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(await newDatabase()));
    return open(place);
  },
};

describeWithPostgres("the contract", () => {
  describeJournal(POSTGRES);
  describeCounting(POSTGRES);
  describeRecords(POSTGRES);
});

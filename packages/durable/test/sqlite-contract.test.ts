/** SQLite keeps the contract. */
import { fileURLToPath } from "node:url";
import { describeCounting } from "./contract/counting-contract.ts";
import { describeEngine } from "./contract/engine-contract.ts";
import { describeJournal } from "./contract/journal-contract.ts";
import type { Stores } from "./contract/opened.ts";
import { describeQueue } from "./contract/queue-contract.ts";
import { describeRecords } from "./contract/record-contract.ts";
import { open } from "./support/sqlite.ts";

const SQLITE: Stores = {
  name: "SQLite",
  opener: fileURLToPath(new URL("./support/sqlite.ts", import.meta.url)),
  open,
};

describeJournal(SQLITE);
describeCounting(SQLITE);
describeRecords(SQLITE);
describeEngine(SQLITE);
describeQueue(SQLITE);

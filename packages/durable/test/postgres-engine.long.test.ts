/** The engine on Postgres keeps the contract. */
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { describeEngine } from "./contract/engine-contract.ts";
import { describeQueue } from "./contract/queue-contract.ts";
import { POSTGRES } from "./support/postgres-stores.ts";

describeWithPostgres("the contract", () => {
  describeEngine(POSTGRES);
  describeQueue(POSTGRES);
});

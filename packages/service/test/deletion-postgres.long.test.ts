/** What is deleted is gone from every table of Postgres. */
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { describeDeletion } from "./support/describe-deletion.ts";
import { dumpPostgres, openPostgresStores } from "./support/postgres-stores.ts";

describeWithPostgres("deletion", () =>
  describeDeletion({ name: "Postgres", openStores: openPostgresStores, dump: dumpPostgres }),
);

/** Tenants on one Postgres do not reach each other; the store shows nothing of one to another, either. */
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { describeIsolation } from "./support/describe-isolation.ts";
import { openPostgresStores } from "./support/postgres-stores.ts";

describeWithPostgres("isolation", () => describeIsolation("Postgres", openPostgresStores));

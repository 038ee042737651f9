/** Quotas over HTTP, on each store. */
import { describe } from "vitest";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { quotaSuite } from "./suites/quota-suite.ts";
import { openService } from "./support/open-service.ts";
import { openPostgresStores } from "./support/postgres-stores.ts";

describe("on SQLite", () => quotaSuite(openService));

describeWithPostgres("on Postgres", () =>
  quotaSuite((options) => openService({ openStores: openPostgresStores, ...options })),
);

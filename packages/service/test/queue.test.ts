/** The queue over HTTP, on each store. */
import { describe } from "vitest";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { queueSuite } from "./suites/queue-suite.ts";
import { openService } from "./support/open-service.ts";
import { openPostgresStores } from "./support/postgres-stores.ts";

describe("on SQLite", () => queueSuite(openService));

describeWithPostgres("on Postgres", () =>
  queueSuite((options) => openService({ openStores: openPostgresStores, ...options })),
);

/** A worker that was stopped past its lease, on a database that it shares with another one. */
import { forAllTenants, type JournalStore } from "@metier/durable";
import { openShared } from "@metier/durable/postgres";
import { onTestFinished, test } from "vitest";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { newSharedPlaces } from "../support/shared-places.ts";
import { pauseWorker } from "./paused-worker.ts";

describeSandbox("a lease of two seconds", () => {
  describeWithPostgres("on Postgres", () => {
    test("who was stopped past it writes nothing when he goes on, and his processes are ended", {
      timeout: 180_000,
    }, async () => {
      const { database, objectStore, environment } = await newSharedPlaces();
      const opened = await openShared({
        databaseUrl: database.url,
        adminUrl: database.adminUrl,
        objectStore,
        environment,
      });
      if (!opened.ok) throw new Error(opened.refusal.message);
      const { journal, engine, close } = opened.value;
      onTestFinished(close);
      await pauseWorker(createRunWorld({}), {
        journal: ofAllTenants(journal),
        engine,
        folder: "",
        environment,
      });
    });
  });
});

/** A test looks at everything. */
function ofAllTenants(journal: JournalStore): JournalStore {
  return {
    ...journal,
    create: (...args) => forAllTenants(() => journal.create(...args)),
    get: (...args) => forAllTenants(() => journal.get(...args)),
    entries: (...args) => forAllTenants(() => journal.entries(...args)),
    events: (...args) => forAllTenants(() => journal.events(...args)),
  };
}

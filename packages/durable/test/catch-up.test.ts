/** What a start makes up for. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { catchUp, TERMINAL_TENANT } from "../src/index.ts";
import { openLocal } from "../src/sqlite.ts";
import { open, required } from "./support/sqlite.ts";

test("a start finds runs that nobody was told of, and answers that woke nobody", async () => {
  const place = mkdtempSync(join(tmpdir(), "metier-catch-up-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const opened = open(place);
  onTestFinished(() => opened.close());
  const { journal, engine } = opened;
  for (const id of ["forgotten", "answered", "half-answered", "unanswered", "cancelled"]) {
    await journal.create({ id, tenant: "acme", order: {} });
    if (id !== "forgotten") await engine.enqueue(id);
  }
  const advanced: string[] = [];
  const worker = engine.work({
    slots: 4,
    leaseMs: 10_000,
    onFault: (fault) => expect.unreachable(String(fault)),
    async advance({ runId, holder, term }) {
      advanced.push(runId);
      const lease = { rootId: runId, holder, term };
      await journal.take(lease);
      const isFirst = (await journal.questionFor(runId, "k")) === undefined;
      if (runId === "forgotten" || !isFirst) return { kind: "ended" };
      const keys = runId === "half-answered" ? ["k", "other"] : ["k"];
      const questions = keys.map((key) => {
        return { id: `${key}-${runId}`, key, kind: "question", body: {} } as const;
      });
      await journal.write(lease, { runId, questions, status: "waiting" });
      return { kind: "parked" };
    },
  });
  while (advanced.length < 4 || worker.active > 0) await delay(10);
  await journal.answer("k-answered", { status: "answered", by: "ada" });
  // The other question of the same step stays open: the run goes on with what was answered.
  await journal.answer("k-half-answered", { status: "answered", by: "ada" });
  await journal.cancel("cancelled");
  await delay(300);
  expect(advanced).toHaveLength(4);
  await catchUp(journal, engine);
  while (advanced.length < 8 || worker.active > 0) await delay(10);
  expect(advanced.slice(4).toSorted()).toEqual(["answered", "cancelled", "forgotten", "half-answered"]);
});

test("a run of a terminal is advanced by whoever names it, and by no other; what a killed owner held is free at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "metier-terminal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const environment = {};
  const first = required(await openLocal({ folder, environment, only: "mine" }));
  for (const id of ["mine", "other"]) {
    await first.journal.create({ id, tenant: TERMINAL_TENANT, order: {} });
  }
  await first.journal.create({ id: "theirs", tenant: "acme", order: {} });
  await first.engine.enqueue("mine");
  const held = Promise.withResolvers<void>();
  first.engine.work({
    slots: 4,
    leaseMs: 60_000,
    onFault: () => undefined,
    async advance({ lost }) {
      held.resolve();
      await new Promise<void>((resolve) => lost.addEventListener("abort", () => resolve()));
      return { kind: "released" };
    },
  });
  await held.promise;
  // As if it had been killed: its lease stays, and the claim goes.
  const copy = mkdtempSync(join(tmpdir(), "metier-terminal-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(folder, copy, { recursive: true });
  await first.close();

  const advanced: string[] = [];
  for (const only of [undefined, "mine", "other"]) {
    const local = required(await openLocal({ folder: copy, environment, only }));
    const worker = local.engine.work({
      slots: 4,
      leaseMs: 60_000,
      onFault: (fault) => expect.unreachable(String(fault)),
      async advance({ runId }) {
        advanced.push(`${only ?? "service"}: ${runId}`);
        return { kind: "ended" };
      },
    });
    await expect.poll(() => advanced.some((line) => line.startsWith(only ?? "service"))).toBe(true);
    await delay(300); // Two more looks at what is due.
    await worker.stop(1000);
    await local.close();
  }
  expect(advanced).toEqual(["service: theirs", "mine: mine", "other: other"]);
});

test("whoever catches up itself is left to do it; otherwise opening a folder does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "metier-later-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const queued: number[] = [];
  for (const isCaughtUpLater of [true, true, false]) {
    const local = required(await openLocal({ folder, environment: {}, isCaughtUpLater }));
    queued.push((await local.engine.counts()).queued);
    await local.journal.create({ id: "forgotten", tenant: "acme", order: {} });
    await local.close();
  }
  expect(queued).toEqual([0, 0, 1]);
});

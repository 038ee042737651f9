/** What a start makes up for. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { catchUp } from "../src/index.ts";
import { open } from "./support/sqlite.ts";

test("a start finds runs that nobody was told of, and answers that woke nobody", async () => {
  const place = mkdtempSync(join(tmpdir(), "metier-catch-up-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const opened = open(place);
  onTestFinished(() => opened.close());
  const { journal, engine } = opened;
  for (const id of ["forgotten", "answered", "unanswered", "cancelled"]) {
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
      const questions = [{ id: `q-${runId}`, key: "k", kind: "question", body: {} } as const];
      await journal.write(lease, { runId, questions, status: "waiting" });
      return { kind: "parked" };
    },
  });
  while (advanced.length < 3 || worker.active > 0) await delay(10);
  await journal.answer("q-answered", { status: "answered", by: "ada" });
  await journal.cancel("cancelled");
  await delay(300);
  expect(advanced).toHaveLength(3);
  await catchUp(journal, engine);
  while (advanced.length < 6 || worker.active > 0) await delay(10);
  expect(advanced.slice(3).toSorted()).toEqual(["answered", "cancelled", "forgotten"]);
});

/** What every journal does. */
import { setTimeout as delay } from "node:timers/promises";
import type { Json } from "@metier/base/json";
import { describe, expect, test } from "vitest";
import {
  type JournalLease,
  type JournalStore,
  LeaseLostError,
  type NewDurableRun,
} from "../../src/journal-store.ts";
import type { Stores } from "./opened.ts";
import { newPlace, openIn, openNew } from "./use-stores.ts";

function run(id: string, more: Partial<NewDurableRun> = {}): NewDurableRun {
  return { id, tenant: "acme", order: { kind: "skill", skill: "greet" }, skill: "greet", ...more };
}

async function begin(journal: JournalStore, id = "r1") {
  await journal.create(run(id));
  const lease = { rootId: id, holder: `holder of ${id}`, term: 1 };
  await journal.take(lease);
  return lease;
}

const approval = { id: "q1", key: "call-1", kind: "approval", body: { tool: "bash" } } as const;

export function describeJournal(stores: Stores): void {
  const open = async (): Promise<JournalStore> => (await openNew(stores)).journal;

  describe(`a journal on ${stores.name}`, () => {
    test("keeps a run as it was asked for, once", async () => {
      const journal = await open();
      expect(await journal.create(run("r1", { userId: "ada" }))).toBe("created");
      expect(await journal.create(run("r1", { userId: "bob" }))).toBe("known");
      expect(await journal.get("r1")).toMatchObject({
        ...run("r1"),
        userId: "ada",
        rootId: "r1",
        status: "queued",
        activeMs: 0,
        lastEvent: 0,
        isCancelled: false,
      });
      expect(await journal.get("none")).toBeUndefined();
    });

    test("keeps everything when it is closed and opened again", async () => {
      const place = newPlace();
      const first = await stores.open(place);
      const lease = await begin(first.journal);
      await first.journal.write(lease, {
        runId: "r1",
        entries: [{ key: "model-1", value: { text: "hé\u0000", list: [1, null] } }],
        events: [{ seq: 1, event: { type: "started" } }],
        questions: [approval],
        status: "waiting",
        activeMs: 1234.4,
      });
      await first.close();
      const { journal } = await openIn(stores, place);
      expect(await journal.get("r1")).toMatchObject({ status: "waiting", activeMs: 1234, lastEvent: 1 });
      expect(await journal.entries("r1")).toEqual([
        { key: "model-1", value: { text: "hé\u0000", list: [1, null] } },
      ]);
      expect(await journal.events("r1", 0, 10)).toEqual([{ seq: 1, event: { type: "started" } }]);
      expect(await journal.questionFor("r1", "call-1")).toMatchObject({ ...approval, status: "pending" });
      await journal.write(lease, { runId: "r1", status: "running" });
    });

    test("gives entries in the order in which they were written", async () => {
      const journal = await open();
      const lease = await begin(journal);
      for (const key of ["b", "a", "c"])
        await journal.write(lease, { runId: "r1", entries: [{ key, value: key }] });
      expect((await journal.entries("r1")).map(({ key }) => key)).toEqual(["b", "a", "c"]);
    });

    test("refuses a key that has a value already, and writes nothing else of that batch", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.write(lease, { runId: "r1", entries: [{ key: "a", value: 1 }] });
      const again = journal.write(lease, {
        runId: "r1",
        entries: [
          { key: "b", value: 2 },
          { key: "a", value: 3 },
        ],
        events: [{ seq: 1, event: {} }],
        status: "completed",
      });
      await expect(again).rejects.toThrow("`a`");
      expect(await journal.entries("r1")).toEqual([{ key: "a", value: 1 }]);
      expect(await journal.get("r1")).toMatchObject({ status: "running", lastEvent: 0 });
    });

    test("takes writes of many runs at once, in their order; one that is refused takes no other with it", async () => {
      const journal = await open();
      const leases = await Promise.all(["r1", "r2", "r3"].map((id) => begin(journal, id)));
      const [first, second, third] = leases as [JournalLease, JournalLease, JournalLease];
      const entry = (key: string) => ({ entries: [{ key, value: key }] });
      const all = await Promise.allSettled([
        journal.write(first, { runId: "r1", ...entry("a") }),
        journal.write({ ...second, holder: "nobody" }, { runId: "r2", ...entry("a") }),
        journal.write(first, { runId: "r1", ...entry("b") }),
        journal.write(first, { runId: "r1", ...entry("a") }),
        journal.write(third, { runId: "r3", ...entry("a") }),
      ]);
      expect(all.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      const keys = async (id: string) => (await journal.entries(id)).map(({ key }) => key);
      expect([await keys("r1"), await keys("r2"), await keys("r3")]).toEqual([["a", "b"], [], ["a"]]);
    });

    test("numbers events without a gap and without a double", async () => {
      const journal = await open();
      const lease = await begin(journal);
      const event = (seq: number) => ({ seq, event: { seq } });
      await journal.write(lease, { runId: "r1", events: [event(1), event(2)] });
      await expect(journal.write(lease, { runId: "r1", events: [event(4)] })).rejects.toThrow("4");
      await expect(journal.write(lease, { runId: "r1", events: [event(2)] })).rejects.toThrow("2");
      await expect(journal.write(lease, { runId: "r1", events: [event(3), event(3)] })).rejects.toThrow("3");
      await journal.write(lease, { runId: "r1", events: [event(3)] });
      expect((await journal.events("r1", 1, 10)).map(({ seq }) => seq)).toEqual([2, 3]);
      expect((await journal.events("r1", 0, 1)).map(({ seq }) => seq)).toEqual([1]);
      expect((await journal.get("r1"))?.lastEvent).toBe(3);
    });

    test("lets only the present holder write, to the run and to what it started", async () => {
      const journal = await open();
      const old = await begin(journal);
      await journal.createChild(old, { ...run("child"), parentId: "r1" });
      const present = { rootId: "r1", holder: "another", term: 2 };
      await journal.take(present);
      const batch = { runId: "r1", entries: [{ key: "a", value: 1 }] };
      await expect(journal.write(old, batch)).rejects.toThrow(LeaseLostError);
      await expect(journal.write(old, { ...batch, runId: "child" })).rejects.toThrow(LeaseLostError);
      await expect(journal.createChild(old, { ...run("other"), parentId: "r1" })).rejects.toThrow(
        LeaseLostError,
      );
      expect(await journal.entries("r1")).toEqual([]);
      expect(await journal.get("other")).toBeUndefined();
      await journal.write(present, { ...batch, runId: "child" });
      expect(await journal.entries("child")).toEqual([{ key: "a", value: 1 }]);
    });

    test("is not taken back by a worker whose lease is older", async () => {
      const journal = await open();
      await journal.create(run("r1"));
      const late = { rootId: "r1", holder: "paused before it took the journal", term: 1 };
      const present = { rootId: "r1", holder: "its successor", term: 2 };
      await journal.take(present);
      await expect(journal.take(late)).rejects.toThrow(LeaseLostError);
      await journal.take(present);
      await journal.write(present, { runId: "r1", entries: [{ key: "a", value: 1 }] });
    });

    test("holds a lease to its own runs", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await begin(journal, "r2");
      await expect(journal.write(lease, { runId: "r2", status: "running" })).rejects.toThrow("r2");
      await expect(journal.write(lease, { runId: "none", status: "running" })).rejects.toThrow("none");
      await expect(journal.createChild(lease, { ...run("c"), parentId: "r2" })).rejects.toThrow("r2");
      await journal.createChild(lease, { ...run("c"), parentId: "r1" });
      await journal.createChild(lease, { ...run("c", { skill: "other" }), parentId: "r1" });
      expect(await journal.get("c")).toMatchObject({ rootId: "r1", parentId: "r1", skill: "greet" });
      await expect(journal.createChild(lease, { ...run("r2"), parentId: "r1" })).rejects.toThrow("r2");
    });

    test("writes nothing to a run that has ended, and cancels what it still asked", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.write(lease, { runId: "r1", questions: [approval], status: "waiting" });
      await journal.write(lease, { runId: "r1", status: "completed", result: { text: "done" } });
      await expect(journal.write(lease, { runId: "r1", events: [{ seq: 1, event: {} }] })).rejects.toThrow(
        "completed",
      );
      expect(await journal.get("r1")).toMatchObject({ status: "completed", result: { text: "done" } });
      expect((await journal.question("q1"))?.status).toBe("cancelled");
      const late = await journal.answer("q1", { status: "approved", by: "ada" });
      expect(late).toMatchObject({ kind: "late", question: { status: "cancelled" } });
    });

    test("ends what a run started with the run, and withdraws what that asked", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.createChild(lease, { ...run("c1"), parentId: "r1" });
      await journal.createChild(lease, { ...run("c2"), parentId: "c1" });
      await journal.write(lease, { runId: "c1", status: "completed", result: {} });
      await journal.write(lease, { runId: "c2", questions: [approval], status: "waiting" });
      await journal.write(lease, { runId: "r1", status: "failed", result: {} });
      expect([(await journal.get("c1"))?.status, (await journal.get("c2"))?.status]).toEqual([
        "completed",
        "cancelled",
      ]);
      expect(await journal.question("q1")).toMatchObject({ status: "cancelled" });
      expect(await journal.questions({ status: "pending", limit: 10 })).toEqual([]);
    });

    test("marks a run that is to be cancelled, unless it has ended", async () => {
      const journal = await open();
      const lease = await begin(journal);
      expect(await journal.cancelled(["r1", "none"])).toEqual([]);
      expect(await journal.cancel("r1")).toMatchObject({ id: "r1", isCancelled: true, status: "running" });
      expect(await journal.cancelled(["none", "r1"])).toEqual(["r1"]);
      expect(await journal.cancelled([])).toEqual([]);
      await journal.write(lease, { runId: "r1", status: "cancelled" });
      expect(await journal.cancel("r1")).toBeUndefined();
      expect(await journal.cancel("none")).toBeUndefined();
    });

    test("lists runs newest first, page by page, by what they have in common", async () => {
      const journal = await open();
      for (const id of ["a", "b", "c", "d"])
        await journal.create(run(id, { userId: id < "c" ? "ada" : "bob" }));
      await journal.create(run("x", { tenant: "other", skill: "else" }));
      const lease = await begin(journal, "e");
      await journal.createChild(lease, { ...run("e1"), parentId: "e" });
      await journal.write(lease, { runId: "e1", status: "running" });
      const ids = async (filter: Partial<Parameters<JournalStore["list"]>[0]>) =>
        (await journal.list({ limit: 10, ...filter })).map(({ id }) => id);
      expect(await ids({ limit: 3 })).toEqual(["e1", "e", "x"]);
      expect(await ids({ tenant: "acme", isRoot: true, limit: 2 })).toEqual(["e", "d"]);
      expect(await ids({ tenant: "acme", isRoot: true, limit: 2, before: "d" })).toEqual(["c", "b"]);
      expect(await ids({ rootId: "e" })).toEqual(["e1", "e"]);
      expect(await ids({ rootId: "e", isRoot: false })).toEqual(["e1"]);
      expect(await ids({ userId: "ada" })).toEqual(["b", "a"]);
      expect(await ids({ skill: "else" })).toEqual(["x"]);
      expect(await ids({ status: ["running"] })).toEqual(["e1", "e"]);
      expect(await ids({ status: ["running", "queued"], tenant: "other" })).toEqual(["x"]);
      expect(await ids({ status: [] })).toEqual([]);
    });

    test("asks a question once for each key of a run", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.write(lease, { runId: "r1", questions: [approval] });
      await journal.write(lease, {
        runId: "r1",
        questions: [{ ...approval, id: "q2", body: { tool: "else" } }],
      });
      expect(await journal.question("q2")).toBeUndefined();
      expect(await journal.questions({ limit: 10 })).toMatchObject([
        { id: "q1", body: { tool: "bash" }, tenant: "acme" },
      ]);
    });

    test("counts one answer, and tells who was later which one it was", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.write(lease, { runId: "r1", questions: [approval] });
      const answers = await Promise.all([
        journal.answer("q1", { status: "approved", by: "ada", answer: { note: "fine" } }),
        journal.answer("q1", { status: "denied", by: "bob" }),
        journal.answer("q1", { status: "approved", by: "ada" }),
      ]);
      expect(answers.map(({ kind }) => kind)).toEqual(["taken", "late", "late"]);
      const counted = { status: "approved", answeredBy: "ada", answer: { note: "fine" } };
      for (const answer of answers) expect(answer).toMatchObject({ question: counted });
      expect(await journal.answer("none", { status: "denied", by: "bob" })).toEqual({ kind: "unknown" });
    });

    test("finds waiting runs that an answer, a cancellation or the end of waiting may not have reached", async () => {
      const journal = await open();
      const park = async (id: string, questions: number) => {
        const lease = await begin(journal, id);
        const asked = Array.from({ length: questions }, (_, at) => {
          return { ...approval, id: `${id}-${at}`, key: `call-${at}` };
        });
        await journal.write(lease, { runId: id, questions: asked, status: "waiting" });
        return lease;
      };
      const owed = async () => (await journal.list({ isOwed: true, limit: 10 })).map(({ id }) => id);
      await park("asked", 2);
      await park("cancelled", 1);
      const lease = await park("answered", 2);
      expect(await owed()).toEqual([]);
      await journal.cancel("cancelled");
      await journal.answer("answered-0", { status: "approved", by: "ada" });
      expect((await owed()).toSorted()).toEqual(["answered", "cancelled"]);
      await delay(2); // What was answered in the same millisecond is told again.
      const next = { ...lease, holder: "the next", term: 2 };
      await journal.take(next);
      await journal.write(next, { runId: "answered", status: "running" });
      expect(await owed()).toEqual(["cancelled"]);
      await journal.write(next, { runId: "answered", status: "waiting" });
      expect(await owed()).toEqual(["cancelled"]);
      await journal.answer("answered-1", { status: "denied", by: "ada" });
      expect((await journal.list({ rootId: "answered", isOwed: true, limit: 1 })).length).toBe(1);
    });

    test("sums what ended root runs used, by day, skill and user, of one tenant and time", async () => {
      const journal = await open();
      const end = async (id: string, more: Partial<NewDurableRun>, result: Json) => {
        await journal.create(run(id, more));
        const lease = { rootId: id, holder: "h", term: 1 };
        await journal.take(lease);
        await journal.createChild(lease, { ...run(`${id}-child`, more), parentId: id });
        await journal.write(lease, { runId: `${id}-child`, status: "completed", result });
        await journal.write(lease, { runId: id, status: "completed", result, activeMs: 10 });
      };
      const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
      await end("r1", { userId: "ada" }, { usage, cost: 0.5 });
      await end("r2", { skill: "other" }, { usage: { ...usage, totalTokens: 4.6 } });
      await end("r3", { skill: undefined }, null);
      await end("r4", { tenant: "other" }, { usage, cost: 9 });
      await journal.create(run("r5"));
      const sum = (by: "day" | "skill" | "user", from = 0, to = Date.now() + 1) =>
        journal.usage({ tenant: "acme", by, from, to });
      const whole = { inputTokens: 3, outputTokens: 2, totalTokens: 5, activeMs: 10 };
      const none = { inputTokens: 0, outputTokens: 0, totalTokens: 0, activeMs: 10 };
      expect(await sum("skill")).toEqual([
        { key: "", runs: 1, ...none, cost: 0, runsWithoutCost: 1 },
        { key: "greet", runs: 1, ...whole, cost: 0.5, runsWithoutCost: 0 },
        { key: "other", runs: 1, ...whole, cost: 0, runsWithoutCost: 1 },
      ]);
      expect((await sum("user")).map(({ key, runs }) => [key, runs])).toEqual([
        ["", 2],
        ["ada", 1],
      ]);
      const { createdAt = 0 } = (await journal.get("r1")) ?? {};
      const [day] = await sum("day", createdAt);
      expect(day).toMatchObject({ key: new Date(createdAt).toISOString().slice(0, 10), totalTokens: 10 });
      expect(await sum("day", 0, createdAt)).toEqual([]);
      await journal.forget("r1");
      expect((await sum("user")).map(({ key }) => key)).toEqual([""]);
    });

    test("takes no answer after a question's time", async () => {
      const journal = await open();
      const lease = await begin(journal);
      const over = { ...approval, expiresAt: Date.now() - 1 };
      const open2 = { ...approval, id: "q2", key: "call-2", expiresAt: Date.now() + 3_600_000 };
      const forever = { ...approval, id: "q3", key: "call-3" };
      await journal.write(lease, { runId: "r1", questions: [over, open2, forever] });
      const late = await journal.answer("q1", { status: "approved", by: "ada" });
      expect(late).toMatchObject({ kind: "late", question: { status: "expired" } });
      expect(await journal.expireQuestions(Date.now())).toEqual([]);
      const expired = await journal.expireQuestions(Date.now() + 7_200_000);
      expect(expired).toMatchObject([{ id: "q2", status: "expired" }]);
      expect(await journal.questions({ status: "pending", limit: 10 })).toMatchObject([{ id: "q3" }]);
    });

    test("lists questions oldest first, page by page", async () => {
      const journal = await open();
      const lease = await begin(journal);
      const questions = ["1", "2", "3"].map((key) => ({ ...approval, id: `q${key}`, key }));
      await journal.write(lease, { runId: "r1", questions });
      await journal.answer("q1", { status: "approved", by: "ada" });
      const ids = async (filter: object) =>
        (await journal.questions({ limit: 10, ...filter })).map(({ id }) => id);
      expect(await ids({ tenant: "acme", status: "pending" })).toEqual(["q2", "q3"]);
      expect(await ids({ rootId: "r1", limit: 2 })).toEqual(["q1", "q2"]);
      expect(await ids({ rootId: "r1", after: "q2" })).toEqual(["q3"]);
      expect(await ids({ tenant: "other" })).toEqual([]);
    });

    test("forgets ended runs with all that is theirs, and no others", async () => {
      const journal = await open();
      const lease = await begin(journal);
      await journal.createChild(lease, { ...run("c"), parentId: "r1" });
      await journal.write(lease, { runId: "c", entries: [{ key: "a", value: 1 }], questions: [approval] });
      await journal.write(lease, { runId: "c", events: [{ seq: 1, event: {} }], status: "completed" });
      await begin(journal, "going-on");
      expect(await journal.purge(Date.now() + 1000)).toBe(0);
      await journal.write(lease, { runId: "r1", status: "failed" });
      expect(await journal.purge(Date.now() - 60_000)).toBe(0);
      expect(await journal.purge(Date.now() + 1000)).toBe(1);
      expect((await journal.list({ limit: 10 })).map(({ id }) => id)).toEqual(["going-on"]);
      expect([
        await journal.entries("c"),
        await journal.events("c", 0, 9),
        await journal.question("q1"),
      ]).toEqual([[], [], undefined]);
    });

    test("forgets one run with all that it started, however it stands", async () => {
      const journal = await open();
      const lease = await begin(journal, "r1");
      await journal.createChild(lease, { ...run("c"), parentId: "r1" });
      await journal.write(lease, { runId: "c", entries: [{ key: "a", value: 1 }], status: "waiting" });
      await begin(journal, "other");
      expect([await journal.forget("c"), await journal.forget("nothing")]).toEqual([false, false]);
      expect(await journal.forget("r1")).toBe(true);
      expect((await journal.list({ limit: 10 })).map(({ id }) => id)).toEqual(["other"]);
      expect(await journal.entries("c")).toEqual([]);
    });
  });
}

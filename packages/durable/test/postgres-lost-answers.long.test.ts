/** What was asked of Postgres is done once and told as it is, although its answer is lost on the way. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import { forTenant, LeaseLostError } from "../src/index.ts";
import { openPostgresStore } from "../src/postgres.ts";
import { type LosingProxy, startLosingProxy } from "./support/losing-proxy.ts";
import { required } from "./support/sqlite.ts";

const TENANT = "acme";
const LINE = { tenant: TENANT, actor: "key-1", action: "done", subject: "it" };
const LEASE = { rootId: "r1", holder: "h", term: 1 };
const RUN = { id: "r1", tenant: TENANT, order: {} };

/** `lost` is by way of the proxy on one connection, `sure` looks past it. */
async function openBoth(silenceMs?: number) {
  const { url, adminUrl } = await newDatabase();
  const proxy = await startLosingProxy(url);
  const sure = required(await openPostgresStore({ url, adminUrl, poolSize: 2 }));
  const lost = required(await openPostgresStore({ url: proxy.through(url), poolSize: 1, silenceMs }));
  onTestFinished(async () => {
    await Promise.all([sure.close(), lost.close()]);
  });
  return { sure, lost, proxy };
}

/** The statement is prepared on the connection, so that the answer that is lost is that of the statement carried out. */
async function losing<Value>(
  proxy: LosingProxy,
  warm: () => Promise<unknown>,
  call: () => Promise<Value>,
): Promise<Value> {
  return forTenant(TENANT, async () => {
    await warm();
    const answer = proxy.loseAnswer();
    const value = await call();
    expect(await answer).toMatch(/SELECT \d/);
    return value;
  });
}

describeWithPostgres("an answer of Postgres that is lost", () => {
  const entry = (key: string) => ({ entries: [{ key, value: key }] });

  test("to a write leaves it written once, and the next one follows", async () => {
    const { sure, lost, proxy } = await openBoth();
    await losing(
      proxy,
      async () => {
        await lost.journal.create(RUN);
        await lost.journal.take(LEASE);
        await lost.journal.write(LEASE, { runId: "r1", ...entry("a") });
      },
      async () => {
        const events = [{ seq: 1, event: { n: 1 } }];
        const first = lost.journal.write(LEASE, { runId: "r1", ...entry("b"), events });
        const second = lost.journal.write(LEASE, {
          runId: "r1",
          ...entry("c"),
          status: "completed",
          result: 1,
        });
        await Promise.all([first, second]);
      },
    );
    await forTenant(TENANT, async () => {
      expect((await sure.journal.entries("r1")).map(({ key }) => key)).toEqual(["a", "b", "c"]);
      expect(await sure.journal.get("r1")).toMatchObject({ status: "completed", lastEvent: 1 });
    });
  });

  test("to the write that ends a run is no refusal of it", async () => {
    const { sure, lost, proxy } = await openBoth();
    const result = { usage: { totalTokens: 5 } };
    await losing(
      proxy,
      async () => {
        await lost.journal.create(RUN);
        await lost.journal.take(LEASE);
        await lost.journal.write(LEASE, { runId: "r1", status: "running" });
      },
      () => lost.journal.write(LEASE, { runId: "r1", status: "completed", result }),
    );
    const [day] = await forTenant(TENANT, () =>
      sure.journal.usage({ tenant: TENANT, by: "day", from: 0, to: 1e15 }),
    );
    expect(day).toMatchObject({ runs: 1, totalTokens: 5 });
  });

  test("to a write whose lease then went to another says that it was written", async () => {
    const { sure, lost, proxy } = await openBoth();
    const next = { ...LEASE, holder: "the next", term: 2 };
    await forTenant(TENANT, async () => {
      await lost.journal.create(RUN);
      await lost.journal.take(LEASE);
      await lost.journal.write(LEASE, { runId: "r1", ...entry("a") });
      const answer = proxy.loseAnswer();
      const writing = lost.journal.write(LEASE, { runId: "r1", ...entry("b") });
      await answer;
      proxy.cutOff();
      await sure.journal.take(next);
      await sure.journal.write(next, { runId: "r1", ...entry("c") });
      proxy.mend();
      await writing;
      await expect(lost.journal.write(LEASE, { runId: "r1", ...entry("d") })).rejects.toThrow(LeaseLostError);
      expect((await sure.journal.entries("r1")).map(({ key }) => key)).toEqual(["a", "b", "c"]);
    });
  });

  test("to a start says that it was started, with one line in the audit log", async () => {
    const { sure, lost, proxy } = await openBoth();
    const create = () => lost.journal.create(RUN, LINE, { tenant: { openRuns: 2 } });
    const warm = () => lost.journal.create({ ...RUN, id: "r0" });
    expect(await losing(proxy, warm, create)).toBe("created");
    await forTenant(TENANT, async () => {
      expect(await create()).toBe("known");
      expect((await sure.records.auditLines(TENANT, 0, 9)).length).toBe(1);
    });
  });

  test("to a record, its change or its removal says what became of it", async () => {
    const { sure, lost, proxy } = await openBoth();
    const key = { tenant: TENANT, kind: "agent", id: "a" };
    const warm = () => lost.records.put({ ...key, id: "warm" }, {}, 0);
    const put = (revision: number) => lost.records.put(key, { revision }, revision, LINE);
    expect(await losing(proxy, warm, () => put(0))).toMatchObject({ revision: 1, body: { revision: 0 } });
    expect(await losing(proxy, warm, () => put(1))).toMatchObject({ revision: 2, body: { revision: 1 } });
    expect(await losing(proxy, warm, () => put(1))).toBeUndefined();
    const remove = () => lost.records.delete(key, LINE);
    expect(await losing(proxy, () => lost.records.delete({ ...key, id: "warm" }), remove)).toBe(true);
    await forTenant(TENANT, async () => {
      expect(await sure.records.get(key)).toBeUndefined();
      expect((await sure.records.auditLines(TENANT, 0, 9)).length).toBe(3);
    });
  });

  test("to an answer says that it counted, and to one that came too late that it did not", async () => {
    const { lost, proxy } = await openBoth();
    const ask = (id: string) => ({ id, key: id, kind: "approval", body: {} }) as const;
    const warm = () => lost.journal.answer("none", { status: "approved", by: "ada" });
    await forTenant(TENANT, async () => {
      await lost.journal.create(RUN);
      await lost.journal.take(LEASE);
      const over = { ...ask("q2"), expiresAt: 1 };
      await lost.journal.write(LEASE, { runId: "r1", questions: [ask("q1"), over], status: "waiting" });
    });
    const answer = () => lost.journal.answer("q1", { status: "approved", by: "ada", answer: 1 }, LINE);
    expect(await losing(proxy, warm, answer)).toMatchObject({ kind: "taken" });
    const late = () => lost.journal.answer("q1", { status: "denied", by: "bob" }, LINE);
    expect(await losing(proxy, warm, late)).toMatchObject({ kind: "late", question: { answeredBy: "ada" } });
    const expire = () => lost.journal.expireQuestions(Date.now());
    expect(await losing(proxy, expireNothing, expire)).toMatchObject([{ id: "q2", status: "expired" }]);
    expect((await forTenant(TENANT, () => lost.records.auditLines(TENANT, 0, 9))).length).toBe(1);

    function expireNothing() {
      return lost.journal.expireQuestions(0);
    }
  });

  test("to all else gives the same answer again", async () => {
    const { lost, proxy } = await openBoth();
    await forTenant(TENANT, () => lost.journal.create(RUN));
    const take = () => lost.journal.take(LEASE);
    await losing(proxy, take, take);
    const child = (id: string) => lost.journal.createChild(LEASE, { ...RUN, id, parentId: "r1" });
    await losing(
      proxy,
      () => child("c1"),
      () => child("c2"),
    );
    const cancel = () => lost.journal.cancel("r1", LINE);
    expect(await losing(proxy, () => lost.journal.cancel("none"), cancel)).toMatchObject({
      isCancelled: true,
    });
    expect(
      (
        await losing(
          proxy,
          () => lost.journal.list({ limit: 1 }),
          () => lost.journal.list({ limit: 9 }),
        )
      ).length,
    ).toBe(3);
    const forget = () => lost.journal.forget("r1");
    expect(await losing(proxy, () => lost.journal.forget("none"), forget)).toBe(true);
    expect(await losing(proxy, cancel, cancel)).toBeUndefined();
    expect((await forTenant(TENANT, () => lost.records.auditLines(TENANT, 0, 9))).length).toBe(1);
  });
});

describeWithPostgres("a server that cannot be reached for a while", () => {
  test("is waited for, and nothing is lost or done twice", async () => {
    const { sure, lost, proxy } = await openBoth();
    await forTenant(TENANT, async () => {
      await lost.journal.create(RUN);
      await lost.journal.take(LEASE);
      const write = (n: number) =>
        lost.journal.write(LEASE, {
          runId: "r1",
          events: [{ seq: n, event: { n } }],
          entries: [{ key: `${n}`, value: n }],
        });
      const all = Array.from({ length: 40 }, (_, index) => write(index + 1));
      await all[5];
      proxy.cutOff();
      await delay(1_500);
      proxy.mend();
      await Promise.all(all);
      expect((await sure.journal.events("r1", 0, 100)).map(({ seq }) => seq)).toEqual(
        all.map((_, index) => index + 1),
      );
      expect((await sure.journal.entries("r1")).length).toBe(40);
    });
  });

  test("and says nothing of it is given up, and the next connection is asked", async () => {
    const { lost, proxy } = await openBoth(500);
    await forTenant(TENANT, async () => {
      await lost.journal.create(RUN);
      proxy.silence();
      expect(await lost.journal.get("r1")).toMatchObject({ id: "r1" });
    });
  });
});

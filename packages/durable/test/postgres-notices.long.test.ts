/** A connection that hears and is dead without anybody being told: it is noticed, which takes a while. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import type { BusNotice } from "../src/index.ts";
import { openPostgresNotices } from "../src/postgres/notices.ts";
import { startLosingProxy } from "./support/losing-proxy.ts";

describeWithPostgres("notices over a connection that says nothing", () => {
  test("are heard again on a new one", { timeout: 300_000 }, async () => {
    const { url } = await newDatabase();
    const proxy = await startLosingProxy(url);
    const teller = openPostgresNotices({ url });
    const other = openPostgresNotices({ url: proxy.through(url) });
    onTestFinished(async () => {
      await teller.close();
      await other.close();
    });
    const heard: BusNotice[] = [];
    other.bus.onNotice((notice) => heard.push(notice));
    const tellUntilHeard = async (runId: string): Promise<void> => {
      while (!heard.some((notice) => notice.kind === "run" && notice.runId === runId)) {
        teller.bus.tell({ kind: "run", runId });
        await delay(100);
      }
    };
    await tellUntilHeard("before");
    proxy.silence();
    await tellUntilHeard("after");
    expect(heard.at(-1)).toEqual({ kind: "run", runId: "after" });
  });
});

/** Runs that are cancelled elsewhere: what a worker asks its store. */
import { boundToTenant, type JournalStore } from "@metier/durable";
import { expect, test } from "vitest";
import { watchCancel } from "../../src/durable/watch-cancel.ts";

test("runs of many tenants are asked about in one query, and each hears of its own", async () => {
  const asked: (readonly string[])[] = [];
  const gone: string[] = [];
  const store = {
    async cancelled(runIds: readonly string[]) {
      asked.push(runIds);
      return gone;
    },
  } as unknown as JournalStore;
  const ended = new AbortController();
  const ids = ["a", "b", "c", "d"];
  const signals = ids.map((id) =>
    watchCancel(boundToTenant(`tenant of ${id}`, store), { id, isCancelled: false }, ended.signal),
  );
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  expect(asked[0]).toEqual(ids);
  gone.push("c");
  await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([false, false, true, false]);
  ended.abort();
});

test("a run that was cancelled before is aborted at once, and asked about by nobody", () => {
  const store = { cancelled: () => expect.unreachable("Nothing is to be asked.") } as unknown as JournalStore;
  const { signal } = new AbortController();
  expect(watchCancel(store, { id: "a", isCancelled: true }, signal).aborted).toBe(true);
});

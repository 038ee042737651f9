import type { JsonObject } from "@metier/base/json";
import type { DurableRun, JournalEvent, JournalStore } from "@metier/durable";
import { expect, test } from "vitest";
import { followRun } from "../src/runs/follow-run.ts";
import { createRunNotices } from "../src/runs/run-notices.ts";

test("a text comes after the event of its call, however fast the model is", async () => {
  const written: JournalEvent[] = [];
  const write = (event: JsonObject): void => {
    written.push({ seq: written.length + 1, event } as JournalEvent);
  };
  const journal = {
    get: async () => ({ id: "run", status: "running" }) as DurableRun,
    events: async (_: string, after: number) => written.filter(({ seq }) => seq > after),
  } as unknown as JournalStore;
  const notices = createRunNotices();
  const following = followRun({
    journal,
    notices,
    runId: "run",
    after: 0,
    heartbeatMs: 200,
    pollMs: 5,
    signal: new AbortController().signal,
    mayGoOn: async () => true,
    text: { push: (piece) => piece, end: () => "" },
  });
  const next = async () => {
    const followed = await following.next();
    if (followed?.kind === "text") return followed.text;
    return followed?.kind === "events" ? followed.events.map(({ event }) => event) : followed?.kind;
  };
  for (const step of [1, 2]) {
    const [called, answered] = [
      { type: "model-called", step },
      { type: "model-answered", step },
    ];
    notices.wrote("run", `Step ${step}.`);
    expect(await next()).toBe("quiet");
    write(called);
    expect(await next()).toEqual([called]);
    expect(await next()).toBe(`Step ${step}.`);
    write(answered);
    expect(await next()).toEqual([answered]);
  }
  following.end();
});

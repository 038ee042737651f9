/** Server-sent events of runs: in order from 1, without a gap or a double, over cuts and over a stop of the server. */
import { expect, test } from "vitest";
import { ADMIN_KEY, followEvents, type SeenEvents, upTo } from "../../../test/support/follow-events.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

test("a stream begins at the first event, follows the run and ends behind its last event", async () => {
  const service = await openService();
  const id = await service.start("say 20");
  const seen: SeenEvents = { ids: [], types: [] };
  expect(await followEvents(`${service.url}/v1/runs/${id}/events`, seen)).toBe(200);
  expect(seen.ids).toEqual(upTo(22));
  expect([seen.types[0], seen.types.at(-1)]).toEqual(["run-started", "run-finished"]);
});

test("a cut stream goes on where it was cut, by `Last-Event-ID` or by `after`; a browser that has all is told to stop", async () => {
  const service = await openService();
  const id = await service.start("say 10");
  const url = `${service.url}/v1/runs/${id}/events`;
  const seen: SeenEvents = { ids: [], types: [] };
  for (let cuts = 0; cuts < 4; cuts += 1) {
    const after = seen.ids.at(-1);
    await followEvents(url, seen, { most: seen.ids.length + 2, after });
  }
  expect(seen.ids).toEqual(upTo(8));
  await followEvents(`${url}?after=8`, seen);
  expect(seen.ids).toEqual(upTo(12));
  expect(await followEvents(url, seen, { after: 12 })).toBe(204);
  const wrong = await service.call("GET", `/v1/runs/${id}/events`, { headers: { "Last-Event-ID": "x" } });
  expect([wrong.status, wrong.body.error?.code]).toEqual([422, "invalid_request"]);
});

test("streams that are open when the server stops miss nothing and see nothing twice after it is back", async () => {
  const folder = temporaryFolder();
  const before = await openService({ folder });
  const id = await before.start("say 150\napprove bash\nsay 10");
  const seen: SeenEvents[] = upTo(20).map(() => ({ ids: [], types: [] }));
  const first = seen.map((one) => followEvents(`${before.url}/v1/runs/${id}/events`, one));
  while (seen.some(({ ids }) => ids.length < 5)) await new Promise((resolve) => setTimeout(resolve, 5));
  await before.stop(1_000);
  await Promise.all(first);
  const after = await openService({ folder });
  const second = seen.map((one) =>
    followEvents(`${after.url}/v1/runs/${id}/events`, one, { after: one.ids.at(-1) }),
  );
  await after.settle(id, "waiting");
  await after.call("POST", `/v1/approvals/q-${id}-line-1`, { body: { decision: "approve" } });
  await Promise.all(second);
  for (const { ids } of seen) expect(ids).toEqual(upTo(163));
});

test("a quiet stream shows a sign of life, and a key has only so many open", async () => {
  const service = await openService({
    times: { heartbeatMs: 20, sweepMs: 50 },
    limits: { streamsPerKey: 2 },
  });
  const id = await service.start("wait");
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const cut = new AbortController();
  const open = () => fetch(`${service.url}/v1/runs/${id}/events`, { headers, signal: cut.signal });
  const [one] = await Promise.all([open(), open()]);
  const third = await open();
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({ error: { code: "too_many_streams" } });
  let text = "";
  for await (const chunk of one?.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.includes(": heartbeat")) break;
  }
  cut.abort();
  let status = 429;
  while (status === 429) {
    const again = await fetch(`${service.url}/v1/runs/${id}/events`, { headers });
    ({ status } = again);
    await again.body?.cancel();
  }
  expect(status).toBe(200);
});

test("asking for the head of a stream opens none", async () => {
  const service = await openService({ limits: { streamsPerKey: 1 } });
  const id = await service.start("wait");
  await service.settle(id, "waiting");
  for (const _ of upTo(3)) expect((await service.call("HEAD", `/v1/runs/${id}/events`)).status).toBe(200);
  expect((await service.call("GET", "/metrics")).text).toMatch(/^metier_event_streams 0$/m);
});

test("500 streams at once all see every event", async () => {
  const service = await openService();
  const id = await service.start("approve bash\nsay 5");
  const seen: SeenEvents[] = upTo(500).map(() => ({ ids: [], types: [] }));
  const streams = seen.map((one) => followEvents(`${service.url}/v1/runs/${id}/events`, one));
  while (seen.some(({ ids }) => ids.length < 1)) await new Promise((resolve) => setTimeout(resolve, 20));
  await service.call("POST", `/v1/approvals/q-${id}-line-0`, { body: { decision: "approve" } });
  await Promise.all(streams);
  expect(seen.filter(({ ids }) => ids.join() !== upTo(8).join())).toEqual([]);
});

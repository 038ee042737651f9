/** What a client that reads slowly, or not at all, costs the service. */
import { expect, test } from "vitest";
import { streamEvents } from "../src/http/event-stream.ts";
import { createRunNotices } from "../src/runs/run-notices.ts";
import { openService } from "./support/open-service.ts";

test("of a text that is being written, only so much waits for a client", async () => {
  const service = await openService();
  const runId = await service.start("wait");
  await service.settle(runId, "waiting");
  const notices = createRunNotices();
  let write = (_piece: string): void => undefined;
  const onText = (_runId: string, listener: (piece: string) => void) => {
    write = listener;
    return () => undefined;
  };
  const stream = streamEvents({
    journal: service.store.journal,
    notices: { ...notices, onText },
    runId,
    after: 1_000,
    heartbeatMs: 1_000,
    pollMs: 20,
    signal: new AbortController().signal,
    mayGoOn: async () => true,
    project: ({ event }) => event,
    text: { push: (piece) => piece, end: () => "" },
    onEnd: () => undefined,
    onFault: () => undefined,
  });
  for (let piece = 0; piece < 1_000; piece += 1) write("x".repeat(1024));
  const reader = stream.getReader();
  await reader.read();
  const { value } = await reader.read();
  await reader.cancel();
  expect(value?.length).toBeGreaterThan(1024);
  expect(value?.length).toBeLessThan(100 * 1024);
});

/** The stream that lists are kept fresh by: it tells a tenant's own changes, and nothing of anybody else's. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import type { ApiChange } from "../src/api.ts";
import { openService, type TestService } from "./support/open-service.ts";

interface Listener {
  readonly changes: readonly ApiChange[];
  readonly text: () => string;
  until(isThere: (changes: readonly ApiChange[]) => boolean): Promise<void>;
}

async function listen(service: TestService, key: string): Promise<Listener> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${service.url}/v1/changes`, { headers, signal: stop.signal });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const changes: ApiChange[] = [];
  let text = "";
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      changes.splice(
        0,
        changes.length,
        ...[...text.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json)),
      );
    }
  };
  read().catch(() => undefined); // It ends with the test.
  return {
    changes,
    text: () => text,
    async until(isThere) {
      while (!isThere(changes)) await new Promise((resolve) => setTimeout(resolve, 10));
    },
  };
}

const has = (kind: string, id?: string) => (changes: readonly ApiChange[]) =>
  changes.some((change) => change.kind === kind && (id === undefined || change.id === id));

test("runs, approvals, answers and the catalog are told to their tenant, and to no other", async () => {
  const folder = temporaryFolder();
  const skills = join(folder, "home", ".metier", "skills");
  writeTree(skills, { "one/SKILL.md": "---\nname: one\ndescription: One.\n---\n" });
  const service = await openService({ folder, times: { heartbeatMs: 30, sweepMs: 50 } });
  const { key: foreign } = await service.makeTenant("acme");
  const mine = await listen(service, ADMIN_KEY);
  const theirs = await listen(service, foreign);
  const run = await service.start("approve bash");
  await mine.until(has("run", run));
  await mine.until(has("approval", `q-${run}-line-0`));
  const asked = mine.changes.length;
  await service.call("POST", `/v1/approvals/q-${run}-line-0`, { body: { decision: "approve" } });
  await service.settle(run, "completed");
  await mine.until((changes) => changes.slice(asked).some(({ kind }) => kind === "approval"));
  writeTree(skills, { "two/SKILL.md": "---\nname: two\ndescription: Two.\n---\n" });
  await mine.until(has("catalog"));
  const { body } = await service.call("GET", "/v1/catalog");
  expect(body.data?.map(({ name }) => name)).toEqual(["one", "two"]);
  await theirs.until(() => theirs.text().includes(": heartbeat"));
  expect(theirs.changes).toEqual([]);
});

test("a stream of changes counts for its key, and ends when the key is revoked", async () => {
  const service = await openService({
    limits: { streamsPerKey: 1 },
    times: { heartbeatMs: 20, sweepMs: 50 },
  });
  const key = await service.makeKey(["read"]);
  const headers = { authorization: `Bearer ${key}` };
  const first = await fetch(`${service.url}/v1/changes`, { headers });
  const ended = first.text();
  const second = await service.call("GET", "/v1/changes", { key });
  expect([second.status, second.body.error?.code]).toEqual([429, "too_many_streams"]);
  await service.call("DELETE", `/v1/keys/${key.split("_")[1]}`);
  expect(await ended).toContain(": connected");
});

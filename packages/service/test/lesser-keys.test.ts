/** What a key may do ends with the key, and is not had by way of another one's approval. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { tarOf } from "../../../test/support/archives.ts";
import { openService, type TestService } from "./support/open-service.ts";

const skill = (body: string) =>
  gzipSync(
    tarOf({ name: "poet/SKILL.md", content: `---\nname: poet\ndescription: Writes.\n---\n${body}\n` }),
  );

test("a stream ends when the key that opened it is revoked", async () => {
  const service = await openService({ times: { heartbeatMs: 20, sweepMs: 50 } });
  const run = await service.start("wait");
  await service.settle(run, "waiting");
  const key = await service.makeKey(["read"]);
  const response = await fetch(`${service.url}/v1/runs/${run}/events`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const ended = response.text();
  const id = key.split("_")[1];
  const revoked = await service.call("DELETE", `/v1/keys/${id}`);
  expect(revoked.body).toMatchObject({ status: "revoked" });
  expect(await ended).toContain("id: 1");
});

async function fireNext(service: TestService, id: string): Promise<void> {
  for (;;) {
    const { body } = await service.call("GET", `/v1/schedules/${id}`);
    if (body.lastAt !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a schedule that is approved in advance starts no other content of its skill, unless that is trusted", async () => {
  let now = Date.parse("2026-11-17T00:30:00Z");
  const service = await openService({ now: () => now });
  await service.call("POST", "/v1/skills", { body: skill("Write.") });
  const make = async (): Promise<string> => {
    const run = { skill: "poet", approve: "allow" };
    const body = { name: "x", cron: "0 * * * *", run };
    return String((await service.call("POST", "/v1/schedules", { body })).body.id);
  };
  const held = await make();
  now += 1000;
  const editor = await service.makeKey(["read", "run", "write"]);
  const { body } = await service.call("POST", "/v1/skills", { key: editor, body: skill("Do other things.") });
  now = Date.parse("2026-11-17T01:00:00Z");
  await fireNext(service, held);
  const { body: shown } = await service.call("GET", `/v1/schedules/${held}`);
  expect(shown.lastFault).toContain("approved in advance");
  expect((await service.call("GET", "/v1/runs")).body.data).toEqual([]);
  await service.call("POST", `/v1/skills/poet/versions/${body.digest}/grant`);
  now = Date.parse("2026-11-17T02:00:00Z");
  while (((await service.call("GET", "/v1/runs")).body.data ?? []).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("a schedule that is approved in advance keeps its agent's version, and names what there is", async () => {
  const service = await openService();
  const agent = { name: "clerk", instructions: "Be brief." };
  await service.call("POST", "/v1/agents", { body: agent });
  const make = (run: Record<string, string>) =>
    service.call("POST", "/v1/schedules", { body: { name: "x", cron: "0 * * * *", run } });
  const made = await make({ skill: "greet", agent: "clerk", approve: "allow" });
  expect(made.body.run).toMatchObject({ agent: "clerk@1" });
  const missing = await make({ skill: "not-there-yet", approve: "allow" });
  expect([missing.status, missing.body.error?.code]).toEqual([422, "unknown_skill"]);
});

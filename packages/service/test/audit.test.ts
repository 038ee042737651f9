/** The audit log: one line for each change, written with it, and none for what was not done. */
import { gzipSync } from "node:zlib";
import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { tarOf } from "../../../test/support/archives.ts";
import { skillText, temporaryFolder } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

const POET = gzipSync(
  tarOf({ name: "poet/SKILL.md", content: skillText("name: poet\ndescription: Writes a poem.") }),
);

test("every change has one line, also when it is asked for twice", async () => {
  const service = await openService();
  const twice = async (method: string, path: string, body?: Json | Buffer): Promise<string> => {
    const first = await service.call(method, path, body === undefined ? {} : { body });
    await service.call(method, path, body === undefined ? {} : { body });
    return String(first.body.digest ?? first.body.id);
  };
  const once = async (path: string, body: Json): Promise<string> =>
    String((await service.call("POST", path, { body })).body.id);
  const digest = await twice("POST", "/v1/skills", POET);
  await service.call("POST", `/v1/skills/poet/versions/${digest}/grant`);
  await twice("DELETE", `/v1/skills/poet/versions/${digest}`);
  await twice("POST", "/v1/agents", { name: "clerk", instructions: "Be brief." });
  await service.call("POST", "/v1/agents/clerk/versions", { body: { instructions: "Be long." } });
  await twice("DELETE", "/v1/agents/clerk");
  await once("/v1/sessions", { skill: "greet" });
  const schedule = await once("/v1/schedules", { name: "x", cron: "0 * * * *", run: { skill: "greet" } });
  await service.call("PUT", `/v1/schedules/${schedule}`, { body: { isPaused: true } });
  await twice("DELETE", `/v1/schedules/${schedule}`);
  await service.call("PUT", "/v1/secrets/TOKEN", { body: { value: "x" } });
  await twice("DELETE", "/v1/secrets/TOKEN");
  const key = await once("/v1/keys", { name: "a key", role: "viewer" });
  await twice("DELETE", `/v1/keys/${key}`);
  const run = await service.start("wait");
  await service.settle(run, "waiting");
  await twice("POST", `/v1/runs/${run}/cancel`);
  const { body } = await service.call("GET", "/v1/audit?limit=100");
  expect(body.data?.map(({ action }) => action)).toEqual([
    "skill.uploaded",
    "skill.granted",
    "skill.removed",
    "agent.created",
    "agent.changed",
    "agent.removed",
    "session.created",
    "schedule.created",
    "schedule.paused",
    "schedule.removed",
    "secret.created",
    "secret.removed",
    "key.created",
    "key.revoked",
    "run.started",
    "run.cancelled",
  ]);
});

test("the key that the first start makes is in the log, too", async () => {
  const service = await openService({ folder: temporaryFolder(), adminKey: undefined });
  const { body } = await service.call("GET", "/v1/audit");
  expect(body.data).toMatchObject([
    { action: "key.created", actor: "first start", detail: { name: "first admin" } },
  ]);
});

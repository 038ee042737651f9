/** What a run would do, told before it is started: by real checks, policy and sandbox, without a model's answer. */
import type { JsonObject } from "@metier/base/json";
import { createScriptModel } from "@metier/run/model";
import { startLocalService } from "@metier/service";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { createRunWorld } from "../../../test/support/scripted-runs.ts";
import type { ApiPlan } from "../src/api.ts";

test("a plan names each tool with the rule that decides, keeps the prompt for admins, and says why there is none", async () => {
  const world = createRunWorld({
    build: ["allowed-tools: Bash Read\nenv: [TOKEN]\nsandbox:\n  network: [example.com]"],
    form: ["input-schema:\n  type: object\n  required: [city]\n  properties:\n    city:\n      type: string"],
  });
  world.write({ "home/.metier/config.toml": '[tools]\n"write_file" = "deny"\n' });
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    metier: { models: { default: createScriptModel([]) } },
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(2_000));
  const post = async (
    path: string,
    body: JsonObject,
    key = ADMIN_KEY,
    method = "POST",
  ): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${key}` };
    const request = { method, headers, body: JSON.stringify(body) };
    const text = await (await fetch(`${started.value.url}${path}`, request)).text();
    expect(text).not.toContain(world.root);
    return JSON.parse(text);
  };
  const plan = async (body: JsonObject, key?: string) =>
    (await post("/v1/catalog/plan", body, key)) as unknown as Extract<ApiPlan, { ok: true }>;

  expect(await plan({ skill: "build", message: "Build it." })).toMatchObject({
    ok: false,
    code: "environment",
  });
  await post("/v1/secrets/TOKEN", { value: "a secret of the tenant" }, ADMIN_KEY, "PUT");
  const asked = await plan({ skill: "build", message: "Build it." });
  expect(asked).toMatchObject({ ok: true, skill: "build", trust: "trusted", backend: "bubblewrap" });
  expect(asked.declared).toMatchObject({ network: ["example.com"] });
  const decisions = Object.fromEntries(asked.tools.map(({ name, decision }) => [name, decision]));
  expect(decisions).toMatchObject({ bash: "ask", read_file: "allow" });
  expect(decisions).not.toHaveProperty("write_file");
  expect(asked.tools.find(({ name }) => name === "bash")?.rule).toContain("asks before");
  expect(asked.system).not.toBe("");
  expect(asked.env).toEqual(["TOKEN"]);
  expect(asked.limits).toHaveProperty("maxIterations");

  const allowed = await plan({ skill: "build", message: "Build it.", approve: "allow" });
  expect(allowed.tools.find(({ name }) => name === "bash")).toMatchObject({ decision: "allow" });

  const { key } = await post("/v1/keys", { name: "x", scopes: ["run"] });
  expect((await plan({ skill: "build", message: "Build it." }, String(key))).system).toBe("");

  expect(await plan({ skill: "form", input: { city: 1 } })).toMatchObject({
    ok: false,
    code: expect.any(String),
  });
  expect(await plan({ skill: "buld" })).toMatchObject({
    ok: false,
    code: "unknown_skill",
    hint: expect.stringContaining("build"),
  });
});

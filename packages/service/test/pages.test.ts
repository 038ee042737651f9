/** Lists come page by page, in the same way on every route. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { openApiPath } from "../src/http/openapi.ts";
import { openService, type TestService } from "./support/open-service.ts";

/** Makes three of each thing that can be listed page by page. */
async function fillThree(service: TestService): Promise<void> {
  for (const number of [1, 2, 3]) {
    const post = (path: string, body: JsonObject) => service.call("POST", path, { body });
    await post("/v1/agents", { name: `agent-${number}`, instructions: "x" });
    if (number > 1) await post("/v1/agents/agent-1/versions", { instructions: "x" });
    await post("/v1/sessions", { skill: "greet" });
    await post("/v1/schedules", { name: "x", cron: "0 0 1 1 *", run: { skill: "greet" } });
    await service.call("PUT", `/v1/secrets/S${number}`, { body: { value: "x" } });
    const provider = { kind: "openai-compatible", baseUrl: "https://1.1.1.1/v1", secret: `S${number}` };
    await service.call("PUT", `/v1/providers/p${number}`, { body: provider });
    await post("/v1/tenants", { name: `acme-${number}` });
    await post("/v1/keys", { name: `key ${number}`, role: "viewer" });
    await service.settle(await service.start("approve bash"), "waiting");
    await service.settle(await service.start("ask Which?"), "waiting");
  }
}

test("each list gives its entries once and in order, however small the pages, and says when there are no more", async () => {
  const service = await openService();
  await fillThree(service);
  const { body: document } = await service.call("GET", "/v1/openapi.json");
  const paths = document.paths as Record<string, Record<string, JsonObject>>;
  const paged = Object.entries(paths).flatMap(([path, { get }]) => {
    const names = ((get?.parameters ?? []) as readonly JsonObject[]).map(({ name }) => name);
    // Those that only say how many come in pages by nothing.
    return names.includes("limit") && names.includes("after") ? [path] : [];
  });
  expect(paged).toEqual(expect.arrayContaining([openApiPath("/v1/agents"), "/v1/audit"]));
  for (const path of paged) {
    const address = path.replace("{name}", "agent-1");
    const whole = (await service.call("GET", `${address}?limit=500`)).body;
    expect([path, whole.next]).toEqual([path, undefined]);
    const single: JsonObject[] = [];
    let next: string | undefined;
    do {
      const after: string = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      const { body } = await service.call("GET", `${address}?limit=1${after}`);
      single.push(...(body.data ?? []));
      next = typeof body.next === "string" ? body.next : undefined;
    } while (next !== undefined);
    expect([path, single]).toEqual([path, whole.data]);
    expect([path, single.length]).toEqual([path, expect.toSatisfy((count: number) => count >= 3)]);
  }
  expect(paged).toHaveLength(12);
});

test("a page that is too large, or none, is refused", async () => {
  const service = await openService();
  for (const limit of ["0", "501", "many"]) {
    expect((await service.call("GET", `/v1/agents?limit=${limit}`)).status).toBe(422);
  }
});

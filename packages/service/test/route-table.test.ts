/** The route table: the document and the server agree, every route asks for its scope, and nothing that is sent breaks it. */

import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { openApiPath } from "../src/http/openapi.ts";
import { KEY_SCOPES } from "../src/keys/scopes.ts";
import { PROTOCOL_ROUTES } from "../src/protocols/all-protocols.ts";
import { allRoutes } from "../src/routes/all-routes.ts";
import { openService } from "./support/open-service.ts";

const ROUTES = allRoutes("1.0.0");
const CLOSED = [...ROUTES, ...PROTOCOL_ROUTES].filter(
  ({ scope }) => scope !== "none" && scope !== "operator",
);

/** The path with something in place of its names. */
function fill(path: string, value: string): string {
  return path.replace(/\{\w+\*?\}/g, encodeURIComponent(value));
}

test("every route is in the OpenAPI document with its scope, and nothing else is", async () => {
  const service = await openService();
  const { body, status } = await service.call("GET", "/v1/openapi.json", { key: null });
  expect(status).toBe(200);
  expect(body.openapi).toBe("3.1.0");
  const described = Object.entries(body.paths as JsonObject).flatMap(([path, methods]) =>
    Object.entries(methods as JsonObject).map(([method, operation]) => {
      return `${method.toUpperCase()} ${path} ${(operation as JsonObject)["x-metier-scope"]}`;
    }),
  );
  const routed = ROUTES.map(({ method, path, scope }) => `${method} ${openApiPath(path)} ${scope}`);
  expect(described.toSorted()).toEqual(routed.toSorted());
  expect(new Set(routed).size).toBe(routed.length);
});

test("every operation of the document has its own name, its parameters and an answer", async () => {
  const service = await openService();
  const { body } = await service.call("GET", "/v1/openapi.json");
  const operations = Object.entries(body.paths as Record<string, Record<string, JsonObject>>).flatMap(
    ([path, methods]) => Object.values(methods).map((operation) => ({ path, operation })),
  );
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = operation.parameters as readonly JsonObject[];
    const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
    expect(inPath).toEqual(named);
    expect(Object.keys(operation.responses as JsonObject).length).toBeGreaterThan(1);
  }
});

test("every closed route refuses to answer without a key, and with a wrong, revoked, expired or lesser one", async () => {
  let now = Date.now();
  const service = await openService({ now: () => now, limits: { failedSignIns: 1e9 } });
  const revoked = await service.makeKey(["read", "run", "approve", "write"]);
  await service.call("DELETE", `/v1/keys/${revoked.split("_")[1]}`);
  const expired = await service.makeKey(["read", "run", "approve", "write"], {
    expiresAt: new Date(now + 1_000).toISOString(),
  });
  const lesser = new Map<string, string>();
  for (const scope of KEY_SCOPES) {
    const others = KEY_SCOPES.filter((other) => other !== scope && other !== "admin");
    lesser.set(scope, await service.makeKey(others));
  }
  now += 2_000;
  const before = (await service.call("GET", "/v1/audit?limit=500")).body.data?.length;
  for (const { method, path, scope } of CLOSED) {
    const ask = (key: string | null) => service.call(method, fill(path, "x"), { key });
    const shown = `${method} ${path}`;
    expect([shown, (await ask(null)).status]).toEqual([shown, 401]);
    expect([shown, (await ask("metier_wrong")).status]).toEqual([shown, 401]);
    expect([shown, (await ask(revoked)).status]).toEqual([shown, 401]);
    expect([shown, (await ask(expired)).status]).toEqual([shown, 401]);
    if (scope === "any") continue; // There is no lesser key.
    const refused = await ask(lesser.get(scope === "platform" ? "admin" : scope) ?? "");
    expect([shown, refused.status]).toEqual([shown, 403]);
    // Other protocols have other words for it.
    if (path.startsWith("/v1/")) expect([shown, refused.body.error?.code]).toEqual([shown, "scope_missing"]);
  }
  expect((await service.call("GET", "/v1/audit?limit=500")).body.data?.length).toBe(before);
});

test("an address that is not there is a 404, a method that is not taken a 405, with the methods that are", async () => {
  const service = await openService();
  expect((await service.call("GET", "/v1/nothing")).body.error?.code).toBe("not_found");
  const wrong = await service.call("DELETE", "/v1/runs");
  expect([wrong.status, wrong.body.error?.code]).toEqual([405, "method_not_allowed"]);
  expect(wrong.headers.get("allow")).toBe("POST, GET");
});

test("a body that is too large is refused before it is read", async () => {
  const service = await openService({ limits: { bodyBytes: 1_000, uploadBytes: 2_000 } });
  const large = await service.call("POST", "/v1/runs", {
    body: { skill: "greet", message: "x".repeat(2_000) },
  });
  expect([large.status, large.body.error?.code]).toEqual([413, "body_too_large"]);
  expect((await service.call("POST", "/v1/skills", { body: Buffer.alloc(3_000) })).status).toBe(413);
  const chunked = await fetch(`${service.url}/v1/runs`, {
    method: "POST",
    headers: { authorization: "Bearer an-admin-key-for-tests-only" },
    body: ReadableStream.from([Buffer.alloc(600, 32), Buffer.alloc(600, 32)]),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(413);
});

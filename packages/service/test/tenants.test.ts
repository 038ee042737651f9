/** Tenants and their keys: who makes them, who reaches what, and what ends with them. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { openService } from "./support/open-service.ts";

test("the platform's admin makes tenants, whose names are one in every spelling, and reads them by id and by name", async () => {
  const service = await openService();
  const { body: acme, status } = await service.call("POST", "/v1/tenants", { body: { name: "Acme" } });
  expect([status, acme]).toEqual([
    201,
    {
      id: expect.stringMatching(/^t_[0-9a-f]{16}$/),
      name: "Acme",
      createdAt: expect.any(String),
      status: "active",
    },
  ]);
  for (const text of ["Acme", "acme", String(acme.id)])
    expect((await service.call("GET", `/v1/tenants/${text}`)).body).toEqual(acme);
  const again = await service.call("POST", "/v1/tenants", { body: { name: "ACME" } });
  expect([again.status, again.body.error?.code]).toEqual([409, "tenant_exists"]);
  const { body } = await service.call("GET", "/v1/tenants");
  expect(body.data?.map(({ name }) => name)).toEqual(["default", "Acme"]);
  expect((await service.call("GET", "/v1/tenants/none")).status).toBe(404);
});

test("names that the service needs itself, and names that cannot be names, are refused", async () => {
  const service = await openService();
  const make = async (name: string) => (await service.call("POST", "/v1/tenants", { body: { name } })).status;
  for (const name of [
    "default",
    "System",
    "t_0123456789abcdef",
    "T_x",
    "@system",
    "*",
    "",
    "a b",
    "a".repeat(65),
  ])
    expect([name, await make(name)]).toEqual([name, 422]);
  const refused = await service.call("DELETE", "/v1/tenants/default");
  expect([refused.status, refused.body.error?.code]).toEqual([409, "tenant_needed"]);
});

test("of twenty who want one name at the same time, one gets it", async () => {
  const service = await openService();
  const make = () => service.call("POST", "/v1/tenants", { body: { name: "acme" } });
  const made = await Promise.all(Array.from({ length: 20 }, make));
  expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  expect((await service.call("GET", "/v1/tenants")).body.data).toHaveLength(2);
});

test("a tenant's admin makes keys for their own tenant alone, and learns nothing of others", async () => {
  const service = await openService();
  const acme = await service.makeTenant("acme");
  const other = await service.makeTenant("other");
  const make = (body: JsonObject, key = acme.key) => service.call("POST", "/v1/keys", { body, key });
  for (const tenant of [acme.id, "acme", "ACME"])
    expect((await make({ role: "viewer", tenant })).body).toMatchObject({ tenant: acme.id });
  expect((await make({ role: "viewer" })).body).toMatchObject({ tenant: acme.id });
  const tell = async (tenant: string) => {
    const { status, body } = await make({ role: "viewer", tenant });
    return [status, JSON.stringify(body).replace(tenant, "")];
  };
  const [first, ...rest] = await Promise.all(["other", "never-made", "default"].map(tell));
  expect(first?.[0]).toBe(403);
  for (const told of rest) expect(told).toEqual(first);
  const list = (query: string) => service.call("GET", `/v1/keys${query}`, { key: acme.key });
  expect((await list(`?tenant=${other.id}`)).status).toBe(403);
  expect((await list("")).body.data?.every(({ tenant }) => tenant === acme.id)).toBe(true);
  const foreign = (await service.call("GET", `/v1/keys?tenant=other`)).body.data ?? [];
  expect(foreign).toMatchObject([{ tenant: other.id, role: "admin" }]);
  const revoke = (key?: string) =>
    service.call("DELETE", `/v1/keys/${foreign[0]?.id}`, key === undefined ? {} : { key });
  expect((await revoke(acme.key)).status).toBe(404);
  expect((await service.call("GET", "/v1/runs", { key: other.key })).status).toBe(200);
  expect((await revoke()).body).toMatchObject({ status: "revoked", tenant: other.id });
  expect((await service.call("GET", "/v1/runs", { key: other.key })).status).toBe(401);
});

test("an admin of a tenant manages no tenants and sees no numbers of the whole service", async () => {
  const service = await openService();
  const { id, key } = await service.makeTenant("acme");
  for (const [method, path] of [
    ["GET", "/v1/tenants"],
    ["POST", "/v1/tenants"],
    ["GET", `/v1/tenants/${id}`],
    ["DELETE", `/v1/tenants/${id}`],
  ] as const) {
    const { status, body } = await service.call(method, path, { key });
    expect([path, status, body.error?.code]).toEqual([path, 403, "platform_only"]);
  }
  const headers = { "x-forwarded-for": "192.0.2.1" };
  expect((await service.call("GET", "/metrics", { key, headers })).status).toBe(403);
  expect((await service.call("GET", "/metrics", { headers })).status).toBe(200);
});

test("an admin key of another tenant neither supersedes METIER_ADMIN_KEY nor keeps the last admin from being needed", async () => {
  const service = await openService();
  await service.makeTenant("acme");
  expect((await service.call("GET", "/v1/tenants")).status).toBe(200);
  const alone = await openService({ adminKey: undefined });
  await alone.makeTenant("acme");
  const { body } = await alone.call("GET", "/v1/keys");
  const refused = await alone.call("DELETE", `/v1/keys/${body.data?.[0]?.id}`);
  expect([refused.status, refused.body.error?.code]).toEqual([409, "last_admin"]);
});

test("no key is made for a tenant that is not there", async () => {
  const service = await openService();
  const { status, body } = await service.call("POST", "/v1/keys", {
    body: { role: "viewer", tenant: "none" },
  });
  expect([status, body.error?.code]).toEqual([404, "not_found"]);
});

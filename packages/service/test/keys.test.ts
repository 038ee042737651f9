/** Keys: the first admin, roles and scopes, expiry and revocation, and guessing. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

test("the first start makes an admin key and gives it once; the second has one already", async () => {
  const folder = temporaryFolder();
  const first = await openService({ folder, adminKey: undefined });
  expect(first.adminKey).toMatch(/^metier_[a-z0-9]{12}_[\w-]{43}$/);
  expect((await first.call("GET", "/v1/keys")).status).toBe(200);
  await first.stop();
  const second = await openService({ folder, adminKey: undefined });
  expect(second.adminKey).toBeUndefined();
  expect((await second.call("GET", "/v1/keys", { key: first.adminKey ?? "" })).status).toBe(200);
});

test("a start that fails makes no key that nobody would ever see", async () => {
  const folder = temporaryFolder();
  const port = Number(new URL((await openService()).url).port);
  await expect(openService({ folder, adminKey: undefined, port })).rejects.toThrow("Cannot listen");
  expect((await openService({ folder, adminKey: undefined })).adminKey).toBeDefined();
});

test("METIER_ADMIN_KEY of fewer than 24 characters is refused before anything starts", async () => {
  await expect(openService({ adminKey: "short" })).rejects.toThrow(
    "METIER_ADMIN_KEY has 5 characters; it needs at least 24.",
  );
  await expect(openService({ adminKey: `${"a".repeat(30)} b` })).rejects.toThrow("HTTP headers do not allow");
});

test("METIER_ADMIN_KEY acts only while no other admin key does", async () => {
  const service = await openService();
  const { body: made } = await service.call("POST", "/v1/keys", { body: { name: "Ada", role: "admin" } });
  const superseded = await service.call("GET", "/v1/keys");
  expect([superseded.status, superseded.body.error?.code]).toEqual([401, "key_revoked"]);
  const key = String(made.key);
  expect((await service.call("GET", "/v1/keys", { key })).status).toBe(200);
  expect((await service.call("DELETE", `/v1/keys/${made.id}`, { key })).status).toBe(200);
  expect((await service.call("GET", "/v1/keys")).status).toBe(200);
});

test("the last admin key cannot be revoked when no METIER_ADMIN_KEY could replace it", async () => {
  const service = await openService({ adminKey: undefined });
  const { body } = await service.call("GET", "/v1/keys");
  const refused = await service.call("DELETE", `/v1/keys/${body.data?.[0]?.id}`);
  expect([refused.status, refused.body.error?.code]).toEqual([409, "last_admin"]);
});

test("a key is sent as a bearer token or as `x-api-key`, and two that differ are none", async () => {
  const service = await openService();
  const key = await service.makeKey(["read"]);
  const headers = { "x-api-key": key };
  expect((await service.call("GET", "/v1/runs", { key: null, headers })).status).toBe(200);
  expect((await service.call("GET", "/v1/runs", { key, headers })).status).toBe(200);
  expect((await service.call("GET", "/v1/runs", { key: ADMIN_KEY, headers })).status).toBe(401);
  const none = await service.call("GET", "/v1/runs", { key: null });
  expect([none.status, none.body.error?.code]).toEqual([401, "key_missing"]);
  expect(none.headers.get("www-authenticate")).toMatch(/^Bearer/);
});

test("an expired key and a revoked key say what they are", async () => {
  let now = Date.now();
  const service = await openService({ now: () => now });
  const expiring = await service.makeKey(["read"], { expiresAt: new Date(now + 60_000).toISOString() });
  expect((await service.call("GET", "/v1/runs", { key: expiring })).status).toBe(200);
  now += 60_000;
  const expired = await service.call("GET", "/v1/runs", { key: expiring });
  expect([expired.status, expired.body.error?.code]).toEqual([401, "key_expired"]);
  const revoked = await service.makeKey(["read"]);
  await service.call("DELETE", `/v1/keys/${revoked.split("_")[1]}`);
  const refused = await service.call("GET", "/v1/runs", { key: revoked });
  expect([refused.status, refused.body.error?.code]).toEqual([401, "key_revoked"]);
  const { body } = await service.call("GET", "/v1/keys");
  expect(body.data?.map(({ status }) => status)).toEqual(["expired", "revoked"]);
});

test("a key needs a role, scopes, or scopes within a role, and an expiry in the future", async () => {
  const service = await openService();
  const make = (body: Record<string, string | string[]>) => service.call("POST", "/v1/keys", { body });
  expect((await make({ name: "x" })).status).toBe(422);
  expect((await make({ name: "x", scopes: [] })).status).toBe(422);
  expect((await make({ name: "x", role: "viewer", scopes: ["read", "run"] })).status).toBe(422);
  expect((await make({ role: "member", scopes: ["run"] })).body).toMatchObject({
    name: "member",
    role: "member",
    scopes: ["run"],
    tenant: "default",
  });
  expect((await make({ name: "x", role: "viewer", expiresAt: "2020-01-01" })).status).toBe(422);
  expect((await make({ name: "x", role: "member" })).body.scopes).toEqual(["read", "files", "run"]);
});

test("no key stands in the store, in the log or in a list", async () => {
  const service = await openService();
  const key = await service.makeKey(["read"]);
  const secret = key.split("_").slice(2).join("_");
  await service.call("GET", `/v1/runs?skill=${secret}`, { key });
  const listed = (await service.call("GET", "/v1/keys")).text;
  await service.stop();
  const stored = ["metier.db", "metier.db-wal"].map((name) => {
    try {
      return readFileSync(join(service.folder, "state", name), "latin1");
    } catch {
      return ""; // Written back into the database when it was closed.
    }
  });
  expect([listed, service.log.join("\n"), ...stored].some((text) => text.includes(secret))).toBe(false);
});

test("an address that guesses is not asked further, while a key that has signed in from there goes on", async () => {
  const service = await openService({ limits: { failedSignIns: 3 } });
  const known = await service.makeKey(["read"]);
  const other = await service.makeKey(["read"]);
  expect((await service.call("GET", "/v1/runs", { key: known })).status).toBe(200);
  const guess = (key: string) => service.call("GET", "/v1/runs", { key });
  for (const key of ["guess-1", "guess-2", "guess-3"]) expect((await guess(key)).status).toBe(401);
  const limited = await guess("guess-4");
  expect([limited.status, limited.body.error?.code]).toEqual([429, "too_many_failures"]);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await guess(other)).status).toBe(429);
  expect((await guess(known)).status).toBe(200);
});

test("a viewer sees the names of a run's files; what is in them needs the scope `files`, which the other roles have", async () => {
  const service = await openService();
  const id = await service.start("");
  await service.settle(id, "completed");
  mkdirSync(join(service.folder, "work", id), { recursive: true });
  writeFileSync(join(service.folder, "work", id, "token.txt"), "a secret that a tool wrote");
  const status = async (given: JsonObject, path: string): Promise<number> => {
    const { body } = await service.call("POST", "/v1/keys", { body: { name: "a key", ...given } });
    return (await service.call("GET", `/v1/runs/${id}/files${path}`, { key: String(body.key) })).status;
  };
  expect(await status({ role: "viewer" }, "")).toBe(200);
  for (const given of [{ role: "viewer" }, { scopes: ["read", "run", "approve", "write"] }]) {
    expect(await status(given, "/token.txt")).toBe(403);
  }
  for (const role of ["member", "operator"]) {
    expect([role, await status({ role }, "/token.txt")]).toEqual([role, 200]);
  }
  expect(await status({ scopes: ["files"] }, "/token.txt")).toBe(200);
  expect(await status({ role: "admin" }, "/token.txt")).toBe(200);
});

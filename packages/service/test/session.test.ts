/** Signing in with a browser: what a cookie may do, for how long, and what other pages cannot do with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { type Browser, openBrowser } from "./support/browser.ts";
import { openService, type TestService } from "./support/open-service.ts";

const HOUR_MS = 3_600_000;

async function signedIn(service: TestService, scopes: readonly string[]): Promise<Browser> {
  const browser = openBrowser(service.url);
  const reply = await browser.signIn(await service.makeKey(scopes));
  expect(reply.status).toBe(200);
  return browser;
}

test("a key becomes a cookie that no script sees and no other site sends, with exactly the key's scopes", async () => {
  const service = await openService();
  const browser = openBrowser(service.url);
  const key = await service.makeKey(["read"], { userId: "ada" });
  const reply = await browser.signIn(key);
  expect(reply.body).toMatchObject({
    keyId: key.split("_")[1],
    userId: "ada",
    scopes: ["read"],
    mode: "serve",
  });
  const [cookie = ""] = reply.headers["set-cookie"] ?? [];
  expect(cookie).toMatch(/^metier_session\w*=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await browser.send("GET", "/v1/me")).body).toEqual(reply.body);
  expect((await browser.send("GET", "/v1/runs")).status).toBe(200);
  const refused = await browser.send("POST", "/v1/runs", { body: { skill: "greet" } });
  expect([refused.status, refused.body.error?.code]).toEqual([403, "scope_missing"]);
});

test("behind https, here or at a proxy, the cookie is sent over nothing else", async () => {
  const service = await openService();
  for (const headers of [{ "x-forwarded-proto": "https" }, { forwarded: "for=10.0.0.1;proto=https" }]) {
    const reply = await openBrowser(service.url).send("POST", "/v1/session", {
      body: { key: ADMIN_KEY },
      headers,
    });
    expect(reply.headers["set-cookie"]?.[0]).toContain("; Secure");
  }
});

test("a change needs the token of the sign-in and the page's own origin", async () => {
  const service = await openService();
  const browser = await signedIn(service, ["read", "run"]);
  const start = (headers: Readonly<Record<string, string | undefined>>) =>
    browser.send("POST", "/v1/runs", { body: { skill: "greet", message: "" }, headers });
  expect((await start({})).status).toBe(201);
  expect((await start({ origin: undefined, "sec-fetch-site": "same-origin" })).status).toBe(201);
  const hostile: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
    ["csrf", { "x-metier-csrf": undefined }],
    ["csrf", { "x-metier-csrf": "" }],
    ["csrf", { "x-metier-csrf": "x".repeat(43) }],
    ["cross_origin", { origin: "http://evil.example" }],
    ["cross_origin", { origin: "null" }],
    ["cross_origin", { origin: `${service.url}0` }],
    ["cross_origin", { origin: undefined }],
    ["cross_origin", { "sec-fetch-site": "cross-site" }],
    ["cross_origin", { "sec-fetch-site": "same-site" }],
    ["wrong_host", { host: "evil.example", origin: "http://evil.example" }],
  ];
  const before = (await service.call("GET", "/v1/runs")).body.data?.length;
  for (const [code, headers] of hostile) {
    const refused = await start(headers);
    expect([headers, refused.status, refused.body.error?.code]).toEqual([headers, 403, code]);
  }
  expect((await service.call("GET", "/v1/runs")).body.data?.length).toBe(before);
});

test("a cookie under a foreign name of this machine reads nothing", async () => {
  const service = await openService();
  const browser = await signedIn(service, ["read"]);
  const refused = await browser.send("GET", "/v1/runs", { headers: { host: "rebound.example" } });
  expect([refused.status, refused.body.error?.code]).toEqual([403, "wrong_host"]);
});

test("another page cannot sign anybody in, and a wrong key is counted like any other", async () => {
  const service = await openService({ limits: { failedSignIns: 3 } });
  const browser = openBrowser(service.url);
  const attack = { body: { key: ADMIN_KEY }, headers: { origin: "http://evil.example" } };
  expect((await browser.send("POST", "/v1/session", attack)).body.error?.code).toBe("cross_origin");
  for (let count = 0; count < 3; count += 1)
    expect((await browser.signIn("metier_wrong")).body.error?.code).toBe("key_unknown");
  const blocked = await browser.signIn("metier_wrong");
  expect([blocked.status, blocked.body.error?.code, browser.jar.size]).toEqual([429, "too_many_failures", 0]);
});

test("a cookie and its token that were stolen before the sign-out are worth nothing after it", async () => {
  const service = await openService();
  const browser = await signedIn(service, ["read", "run"]);
  const thief = openBrowser(service.url);
  for (const [name, value] of browser.jar) thief.jar.set(name, value);
  thief.csrf = browser.csrf;
  expect((await thief.send("GET", "/v1/runs")).status).toBe(200);
  expect((await browser.send("DELETE", "/v1/session")).status).toBe(200);
  expect(browser.jar.size).toBe(0);
  const read = await thief.send("GET", "/v1/runs");
  expect([read.status, read.body.error?.code]).toEqual([401, "signed_out"]);
  expect((await thief.send("POST", "/v1/runs", { body: { skill: "greet" } })).status).toBe(401);
});

test("the cookie of a key that is revoked or expires ends with it", async () => {
  let now = Date.now();
  const service = await openService({ now: () => now });
  const revoked = await signedIn(service, ["read"]);
  const keyId = String((await revoked.send("GET", "/v1/me")).body.keyId);
  await service.call("DELETE", `/v1/keys/${keyId}`);
  expect((await revoked.send("GET", "/v1/runs")).body.error?.code).toBe("signed_out");
  const expiring = openBrowser(service.url);
  await expiring.signIn(
    await service.makeKey(["read"], { expiresAt: new Date(now + HOUR_MS).toISOString() }),
  );
  expect((await expiring.send("GET", "/v1/runs")).status).toBe(200);
  now += HOUR_MS;
  expect((await expiring.send("GET", "/v1/runs")).status).toBe(401);
});

test("who is away for twelve hours is signed out; who is not, is not", async () => {
  let now = Date.now();
  const service = await openService({ now: () => now });
  const browser = await signedIn(service, ["read"]);
  for (let hours = 0; hours < 24; hours += 11) {
    now += 11 * HOUR_MS;
    expect((await browser.send("GET", "/v1/me")).status).toBe(200);
  }
  now += 12 * HOUR_MS;
  expect((await browser.send("GET", "/v1/me")).body.error?.code).toBe("signed_out");
});

test("a restart keeps people signed in, and no cookie stands in the server's files", async () => {
  const first = await openService();
  const browser = await signedIn(first, ["read"]);
  const admin = openBrowser(first.url);
  await admin.signIn(ADMIN_KEY);
  await first.stop();
  const stored = readFileSync(join(first.folder, "state", "metier.db"), "latin1");
  for (const cookie of browser.jar.values()) expect(stored).not.toContain(cookie);
  const port = Number(new URL(first.url).port);
  const second = await openService({ folder: first.folder, port });
  expect((await browser.send("GET", "/v1/runs")).status).toBe(200);
  expect((await admin.send("GET", "/v1/keys")).status).toBe(200);
  await second.stop();
  // Whoever knew the old METIER_ADMIN_KEY is not the one who has the new one.
  await openService({ folder: first.folder, port, adminKey: `${ADMIN_KEY}-changed` });
  expect((await admin.send("GET", "/v1/keys")).status).toBe(401);
  expect((await browser.send("GET", "/v1/runs")).status).toBe(200);
});

test("where a request has a key and a cookie, the key counts", async () => {
  const service = await openService();
  const browser = await signedIn(service, ["read", "run", "approve"]);
  const key = await service.makeKey(["read"]);
  const headers = { authorization: `Bearer ${key}`, "x-metier-csrf": undefined, origin: undefined };
  expect((await browser.send("GET", "/v1/me", { headers })).body).toMatchObject({ scopes: ["read"] });
  expect((await browser.send("GET", "/v1/me", { headers })).body.csrf).toBeUndefined();
  const started = await browser.send("POST", "/v1/runs", { body: { skill: "greet" }, headers });
  expect(started.body.error?.code).toBe("scope_missing");
  const wrong = { ...headers, authorization: "Bearer metier_wrong" };
  expect((await browser.send("GET", "/v1/me", { headers: wrong })).status).toBe(401);
});

test("an open event stream ends with the sign-in", async () => {
  const service = await openService({ times: { sweepMs: 50, pollMs: 20, heartbeatMs: 40 } });
  const browser = await signedIn(service, ["read"]);
  const id = await service.start("wait");
  const stream = browser.send("GET", `/v1/runs/${id}/events`);
  await browser.send("DELETE", "/v1/session");
  expect((await stream).status).toBe(200);
});

/** Tokens of an identity provider: what they must be, who they stand for, and everything that they are not taken for. */
import { createHmac } from "node:crypto";
import { exportSPKI } from "jose";
import { expect, test } from "vitest";
import {
  AUDIENCE,
  type IssuerKey,
  makeKey,
  signToken,
  startIssuer,
  type TestIssuer,
} from "./support/oidc-issuer.ts";
import { type OpenOptions, openService, type TestService } from "./support/open-service.ts";

interface Setup {
  readonly service: TestService;
  readonly issuer: TestIssuer;
  readonly key: IssuerKey;
  readonly tenant: string;
  token(claims?: Readonly<Record<string, unknown>>, more?: object): Promise<string>;
  ask(token: string, path?: string): Promise<readonly [number, unknown]>;
}

async function setUp(options: OpenOptions = {}, restMs?: number): Promise<Setup> {
  const key = await makeKey("first");
  const issuer = await startIssuer({ keys: [key], claims: { tenant: "acme", role: "member" } });
  const oidc = { issuer: issuer.url, audience: AUDIENCE, tenantClaim: "tenant", roleClaim: "role" };
  const service = await openService({ oidc: { ...oidc, restMs }, ...options });
  const { id } = await service.makeTenant("acme");
  return {
    service,
    issuer,
    key,
    tenant: id,
    token: (claims = {}, more = {}) =>
      signToken({ tenant: "acme", role: "member", ...claims }, { key, issuer: issuer.url, ...more }),
    async ask(token, path = "/v1/runs") {
      const { status, body } = await service.call("GET", path, { key: token });
      return [status, body.error?.code];
    },
  };
}

test("a token that the provider itself has made acts for the tenant and in the role that it names", async () => {
  const { service, issuer, tenant } = await setUp();
  const token = await issuer.fetchToken();
  const { body } = await service.call("GET", "/v1/me", { key: token });
  expect(body).toMatchObject({
    tenant,
    userId: "a-program",
    scopes: ["read", "files", "run"],
    keyId: expect.stringMatching(/^oidc:p_[0-9a-f]{16}$/),
  });
  const made = await service.call("POST", "/v1/runs", { key: token, body: { skill: "greet", message: "" } });
  expect(made.status).toBe(201);
  const shown = await service.store.journal.get(String(made.body.id));
  expect(shown).toMatchObject({ tenant, userId: "a-program" });
  expect((await service.call("GET", `/v1/runs/${made.body.id}`)).status).toBe(404);
});

test("a user, a tenant by its id and the highest role of a list are taken; another user has another key id", async () => {
  const { service, token, tenant } = await setUp();
  const me = async (claims: Readonly<Record<string, unknown>>) =>
    (await service.call("GET", "/v1/me", { key: await token(claims) })).body;
  const ada = await me({ tenant, role: ["offline_access", "viewer", "operator", 7] });
  expect(ada).toMatchObject({ userId: "ada", scopes: expect.arrayContaining(["operate", "approve"]) });
  expect((await me({})).keyId).toBe(ada.keyId);
  expect((await me({ sub: "bob" })).keyId).not.toBe(ada.keyId);
  expect((await me({ aud: ["https://other.example", AUDIENCE] })).userId).toBe("ada");
  expect((await me({ nbf: Math.floor(Date.now() / 1000) - 10 })).userId).toBe("ada");
});

test("a token that is forged, for others, over, or no access token is refused as such", async () => {
  const { service, issuer, key, token, ask } = await setUp();
  const now = Math.floor(Date.now() / 1000);
  const stranger = await makeKey("first");
  const unknown = await makeKey("second");
  const whole = await token();
  const [head = "", payload = "", signature = ""] = whole.split(".");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const hmac = `${encode({ alg: "HS256", kid: key.kid, typ: "at+jwt" })}.${payload}`;
  const secret = createHmac("sha256", await exportSPKI(key.publicKey))
    .update(hmac)
    .digest("base64url");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
  const refused = {
    "another key under the same id": await token({}, { key: stranger }),
    "a key that nobody has": await token({}, { key: unknown }),
    "another issuer": await token({ iss: "https://evil.example" }),
    "no issuer": await token({ iss: undefined }),
    "another audience": await token({ aud: "https://other.example" }),
    "no audience": await token({ aud: undefined }),
    "an end that is not there": await token({ exp: undefined }),
    nobody: await token({ sub: undefined }),
    "not yet": await token({ nbf: now + 600 }),
    "an ID token": await token({ nonce: "x", at_hash: "y" }),
    "another type": await token({}, { header: { typ: "logout+jwt" } }),
    "bound to a sender": await token({ cnf: { jkt: "x" } }),
    "alg none": `${encode({ alg: "none" })}.${payload}.`,
    "the public key as a secret": `${hmac}.${secret}`,
    "another payload": `${head}.${encode({ ...claims, role: "admin" })}.${signature}`,
    "no signature": `${head}.${payload}.`,
    "a critical header that nobody knows": await token({}, { header: { crit: ["x"], x: 1 } }).catch(
      () => "e30.e30.e30",
    ),
    "no header": `e30.${payload}.${signature}`,
    "nothing at all": "a.b.c",
    "too long": await token({ more: "x".repeat(10_000) }),
  };
  for (const [what, text] of Object.entries(refused))
    expect([what, ...(await ask(text))]).toEqual([what, 401, "token_invalid"]);
  expect(await ask(await token({ exp: now - 60 }))).toEqual([401, "token_expired"]);
  expect(await ask(whole)).toEqual([200, undefined]);
  const { text } = await service.call("GET", "/v1/runs", { key: refused["a key that nobody has"] });
  expect(text).not.toMatch(/second|jwks|kid|RS256/i);
  // Not as an API key, and not to sign in with.
  const headers = { "x-api-key": whole };
  expect((await service.call("GET", "/v1/runs", { key: null, headers })).status).toBe(401);
  expect(
    (await service.call("POST", "/v1/session", { key: null, body: { key: whole.slice(0, 512) } })).status,
  ).toBe(401);
  expect(service.log.join("\n")).not.toContain(signature);
  expect(issuer.asked.keys).toBeLessThanOrEqual(2);
});

test("a tenant that is not there, none, an unknown role and none are told, and nothing is assumed", async () => {
  const { service, token, ask } = await setUp();
  for (const claims of [
    { tenant: undefined },
    { tenant: "never-made" },
    { tenant: ["acme"] },
    { tenant: "@system" },
    { tenant: "*" },
    { role: undefined },
    { role: "owner" },
    { role: [] },
    { role: { admin: true } },
    { role: "ADMIN" },
    { sub: "x".repeat(300) },
  ]) {
    const { status, body } = await service.call("GET", "/v1/runs", { key: await token(claims) });
    expect([claims, status, body.error?.code]).toEqual([claims, 403, "claim_refused"]);
    expect(String(body.error?.message)).toContain(`\`${Object.keys(claims)[0]}\``);
  }
  expect(await ask(await token({ role: "viewer" }), "/v1/keys")).toEqual([403, "scope_missing"]);
  expect(await ask(await token({ role: "admin" }), "/v1/tenants")).toEqual([403, "platform_only"]);
  expect(await ask(await token({ role: "admin", tenant: "default" }), "/v1/tenants")).toEqual([
    200,
    undefined,
  ]);
});

test("a member's token makes no key; an admin's makes one for its own tenant alone", async () => {
  const { service, token, tenant } = await setUp();
  const make = async (role: string, body: Readonly<Record<string, string>>) =>
    (await service.call("POST", "/v1/keys", { key: await token({ role }), body })).status;
  expect(await make("operator", { role: "viewer" })).toBe(403);
  expect(await make("admin", { role: "admin", tenant })).toBe(201);
  expect(await make("admin", { role: "viewer", tenant: "default" })).toBe(403);
});

test("keys that the provider changes are found by their new id, without a restart", async () => {
  const first = await setUp({}, 50);
  expect(await first.ask(await first.token())).toEqual([200, undefined]);
  await first.issuer.stop();
  const second = await makeKey("second");
  await startIssuer({ keys: [second], port: first.issuer.port });
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await first.ask(await first.token({}, { key: second }))).toEqual([200, undefined]);
  expect(await first.ask(await first.token())).toEqual([401, "token_invalid"]);
});

test("while the provider does not answer, tokens are a 503 that says so, keys act as ever, and it is asked once in a while", async () => {
  const { service, issuer, token, ask } = await setUp();
  await issuer.stop();
  expect(await ask(await token())).toEqual([503, "issuer_unavailable"]);
  expect(await ask(await token())).toEqual([503, "issuer_unavailable"]);
  expect((await service.call("GET", "/v1/runs")).status).toBe(200);
});

test("a stream ends with the token that opened it", async () => {
  let now = Date.now();
  const { service, token } = await setUp({ now: () => now, times: { heartbeatMs: 20, sweepMs: 50 } });
  const key = await token({ tenant: "default", role: "viewer" });
  const run = await service.start("wait");
  await service.settle(run, "waiting");
  const response = await fetch(`${service.url}/v1/runs/${run}/events`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  const ended = response.text();
  now += 700_000;
  expect(await ended).toContain("id: 1");
});

test("without settings of OIDC a token is an unknown key", async () => {
  const key = await makeKey("first");
  const service = await openService();
  const token = await signToken({}, { key, issuer: "https://login.example.com" });
  const { status, body } = await service.call("GET", "/v1/runs", { key: token });
  expect([status, body.error?.code]).toEqual([401, "key_unknown"]);
});

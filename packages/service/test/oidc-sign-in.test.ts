/** Signing in on the page by an identity provider: the whole way there and back, and everything that is no end of it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type Browser, openBrowser } from "./support/browser.ts";
import { AUDIENCE, CLIENT, startIssuer, type TestIssuer } from "./support/oidc-issuer.ts";
import { type OpenOptions, openService, type TestService } from "./support/open-service.ts";

const CALLBACK = "/v1/sign-in/oidc/callback";

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Setup {
  readonly service: TestService;
  readonly issuer: TestIssuer;
  readonly tenant: string;
}

async function setUp(claims: Readonly<Record<string, unknown>>, options: OpenOptions = {}): Promise<Setup> {
  const port = await findPort();
  const issuer = await startIssuer({ redirect: `http://127.0.0.1:${port}${CALLBACK}`, claims });
  const names = { tenantClaim: "tenant", roleClaim: "role" };
  const oidc = { issuer: issuer.url, audience: AUDIENCE, client: CLIENT, ...names };
  const service = await openService({ port, oidc, ...options });
  return { service, issuer, tenant: (await service.makeTenant("acme")).id };
}

/** What a person does at the provider: follows its redirects, types a name, agrees. Gives where they are sent back to. */
async function visitProvider(url: string, name: string): Promise<URL> {
  const { origin } = new URL(url);
  const person = openBrowser(origin);
  let at = new URL(url);
  let form: string | undefined;
  for (;;) {
    const response = await fetch(at, {
      method: form === undefined ? "GET" : "POST",
      headers: {
        cookie: [...person.jar].map(([key, value]) => `${key}=${value}`).join("; "),
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form !== undefined && { body: form }),
      redirect: "manual",
    });
    for (const line of response.headers.getSetCookie()) {
      const [key = "", value = ""] = (line.split("; ")[0] ?? "").split("=");
      person.jar.set(key, value);
    }
    const location = response.headers.get("location");
    form = undefined;
    if (location !== null) {
      at = new URL(location, at);
      if (at.origin !== origin) return at;
      continue;
    }
    const text = await response.text();
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    const [, action] = /action="([^"]+)"/.exec(text) ?? [];
    if (prompt === undefined || action === undefined) throw new Error(text);
    at = new URL(action, at);
    form = `prompt=${prompt}&login=${name}&password=x`;
  }
}

async function begin(browser: Browser): Promise<string> {
  const reply = await browser.send("GET", "/v1/sign-in/oidc");
  expect(reply.status).toBe(303);
  return String(reply.headers.location);
}

test("somebody signs in at the provider and comes back with the same cookie as with a key", async () => {
  const { service, issuer, tenant } = await setUp({ tenant: "acme", role: "operator" });
  expect((await service.call("GET", "/v1/sign-in", { key: null })).body).toEqual({ key: true, oidc: true });
  const browser = openBrowser(service.url);
  const there = new URL(await begin(browser));
  expect(there.origin).toBe(issuer.url);
  expect(Object.fromEntries(there.searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    scope: "openid",
  });
  const back = await visitProvider(there.href, "ada");
  const { status, headers } = await browser.send("GET", back.pathname + back.search);
  expect([status, headers.location]).toEqual([303, "/"]);
  const [cookie, bound] = headers["set-cookie"] ?? [];
  expect(cookie).toMatch(/^metier_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(bound).toContain("Max-Age=0");
  const { body: me } = await browser.send("GET", "/v1/me");
  expect(me).toMatchObject({ tenant, userId: "ada", scopes: expect.arrayContaining(["operate"]) });
  browser.csrf = String(me.csrf);
  const body = { skill: "greet", message: "" };
  expect((await browser.send("POST", "/v1/runs", { body })).status).toBe(201);
  expect((await browser.send("POST", "/v1/runs", { body, headers: { "x-metier-csrf": "x" } })).status).toBe(
    403,
  );
  expect((await browser.send("GET", "/v1/keys")).status).toBe(403);
  // A code is good for one sign-in.
  expect((await browser.send("GET", back.pathname + back.search)).status).toBe(401);
});

test("the cookie ends with the day, with the tenant, and when its owner signs out", async () => {
  let now = Date.now();
  const { service } = await setUp({ tenant: "acme", role: "viewer" }, { now: () => now });
  const signIn = async (): Promise<Browser> => {
    const browser = openBrowser(service.url);
    const back = await visitProvider(await begin(browser), "ada");
    await browser.send("GET", back.pathname + back.search);
    const me = await browser.send("GET", "/v1/me");
    expect(me.status).toBe(200);
    browser.csrf = String(me.body.csrf);
    return browser;
  };
  const out = await signIn();
  const jar = new Map(out.jar);
  expect((await out.send("DELETE", "/v1/session")).status).toBe(200);
  for (const [key, value] of jar) out.jar.set(key, value);
  expect((await out.send("GET", "/v1/me")).status).toBe(401);
  const long = await signIn();
  for (let hour = 0; hour < 11; hour += 1) {
    now += 3_600_000;
    expect((await long.send("GET", "/v1/me")).status).toBe(200);
  }
  now += 3_600_001;
  expect((await long.send("GET", "/v1/me")).status).toBe(401);
  const last = await signIn();
  await service.call("DELETE", "/v1/tenants/acme");
  expect((await last.send("GET", "/v1/me")).status).toBe(401);
});

test("what is not the end of a sign-in of this browser signs nobody in", async () => {
  let now = Date.now();
  const { service } = await setUp({ tenant: "acme", role: "admin" }, { now: () => now });
  const victim = openBrowser(service.url);
  const attacker = openBrowser(service.url);
  const back = await visitProvider(await begin(attacker), "mallory");
  const end = back.pathname + back.search;
  const tried = async (browser: Browser, path: string) => {
    const { status, body } = await browser.send("GET", path);
    return [status, body.error?.code];
  };
  // Another browser is led to the end of a sign-in that is not its own.
  expect(await tried(victim, end)).toEqual([401, "sign_in_unbound"]);
  await begin(victim);
  expect(await tried(victim, end)).toEqual([401, "sign_in_unbound"]);
  const state = back.searchParams.get("state") ?? "";
  expect(await tried(attacker, `${CALLBACK}?state=${state}&code=guessed`)).toEqual([401, "sign_in_failed"]);
  expect(await tried(attacker, `${CALLBACK}?state=${state}&error=access_denied`)).toEqual([
    401,
    "sign_in_failed",
  ]);
  expect(await tried(attacker, `${end}&iss=https%3A%2F%2Fevil.example`)).toEqual([422, "invalid_request"]);
  expect(await tried(attacker, CALLBACK)).toEqual([401, "sign_in_unbound"]);
  now += 601_000;
  expect(await tried(attacker, end)).toEqual([401, "sign_in_unbound"]);
  expect([...attacker.jar.keys()].some((name) => /^metier_session_\d+$/.test(name))).toBe(false);
});

test("whoever has no tenant or role here is told so, and not signed in", async () => {
  const { service } = await setUp({ tenant: "acme", role: "guest" });
  const browser = openBrowser(service.url);
  const back = await visitProvider(await begin(browser), "ada");
  const { status, body } = await browser.send("GET", back.pathname + back.search);
  expect([status, body.error?.code]).toEqual([403, "claim_refused"]);
  expect((await browser.send("GET", "/v1/me")).status).toBe(401);
});

test("without a client nobody is sent anywhere", async () => {
  const service = await openService();
  expect((await service.call("GET", "/v1/sign-in", { key: null })).body).toEqual({ key: true, oidc: false });
  expect((await service.call("GET", "/v1/sign-in/oidc", { key: null })).status).toBe(404);
  expect((await service.call("GET", CALLBACK, { key: null })).status).toBe(404);
});

/** The authorization server of the desk, spoken to as any client and any site of the web could. */

import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type AuthorizationClient,
  createAuthorizationClient,
} from "../../../src/desk/authorization/device-client.ts";
import { CLIENT_ID } from "../../../src/desk/authorization/protocol.ts";
import { resultOf } from "../../support/bridges.ts";
import { decideOnPage, makeAccount, serveDesk } from "../../support/desk.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const { signal } = new AbortController();

/** A server with Anna's account, a client, and a clock that stands still. */
async function open(options: Parameters<typeof serveDesk>[1] = {}) {
  const root = temporaryFolder();
  makeAccount(root, "anna");
  const time = { now: 1_000_000 };
  const clock = (): number => time.now;
  const { url } = await serveDesk(root, { clock, ...options });
  return { root, url, time, clock, client: createAuthorizationClient(() => url) };
}

async function begin(client: AuthorizationClient) {
  return resultOf(await client.requestDeviceCode(signal));
}

async function poll(client: AuthorizationClient, deviceCode: string) {
  const answer = resultOf(await client.pollTokens(deviceCode, signal));
  return answer.state === "tokens" ? answer.tokens : answer.error;
}

async function renew(client: AuthorizationClient, refreshToken: string) {
  const answer = resultOf(await client.renewTokens(refreshToken, signal));
  return answer.state === "tokens" ? answer.tokens : answer.error;
}

async function signIn(client: AuthorizationClient) {
  const { deviceCode, url } = await begin(client);
  expect(await decideOnPage(url, "anna")).toMatchObject({ status: 200 });
  const tokens = await poll(client, deviceCode);
  if (typeof tokens === "string") throw new Error(tokens);
  return tokens;
}

describe("a sign-in by device code", () => {
  test("is pending, approved on the page, and gives tokens once", async () => {
    const { client } = await open();
    const { deviceCode, userCode, url, intervalSeconds, expiresInSeconds } = await begin(client);
    expect(userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect([intervalSeconds, expiresInSeconds]).toEqual([1, 600]);
    expect(await poll(client, deviceCode)).toBe("authorization_pending");
    expect(
      (await decideOnPage(url, "anna", { user_code: userCode.toLowerCase().replace("-", " ") })).page,
    ).toContain("anna@example.org is linked");
    expect(await poll(client, deviceCode)).toMatchObject({
      account: { id: "anna", name: "Anna", email: "anna@example.org" },
      expiresInSeconds: 300,
    });
    expect(await poll(client, deviceCode)).toBe("invalid_grant");
  });

  test("is refused, ends, and is slowed down as the standard says", async () => {
    const { client, time } = await open();
    const denied = await begin(client);
    await decideOnPage(denied.url, "", { decision: "deny" });
    expect(await poll(client, denied.deviceCode)).toBe("access_denied");
    const { deviceCode, url } = await begin(client);
    expect(await poll(client, deviceCode)).toBe("authorization_pending");
    expect(await poll(client, deviceCode)).toBe("slow_down");
    time.now += 5_000;
    expect(await poll(client, deviceCode)).toBe("slow_down");
    time.now += 20_000;
    expect(await poll(client, deviceCode)).toBe("authorization_pending");
    time.now += 600_000;
    expect(await poll(client, deviceCode)).toBe("expired_token");
    expect((await decideOnPage(url, "anna")).status).toBe(400);
    expect(await poll(client, "made-up")).toBe("invalid_grant");
  });

  test("needs the passcode of an account; whoever guesses is slowed down", async () => {
    const { client, time } = await open();
    const { deviceCode, url } = await begin(client);
    for (const account of ["anna", "nobody", "../anna"])
      expect(await decideOnPage(url, account, { passcode: "wrong" })).toMatchObject({ status: 403 });
    for (let attempt = 0; attempt < 4; attempt++) await decideOnPage(url, "anna", { passcode: "wrong" });
    expect((await decideOnPage(url, "anna")).status).toBe(429);
    expect(await poll(client, deviceCode)).toBe("authorization_pending");
    time.now += 61_000;
    expect((await decideOnPage(url, "anna")).status).toBe(200);
  });

  test("codes cannot be guessed one after the other", async () => {
    const { client, url } = await open();
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt++)
      statuses.push((await decideOnPage(`${url}/device?user_code=BBBB-BBBB`, "anna")).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    expect((await decideOnPage((await begin(client)).url, "anna")).status).toBe(429);
  });
});

describe("tokens", () => {
  test("are renewed with a new refresh token each time; an old one that comes back ends them all", async () => {
    const { client, time, root } = await open();
    const first = await signIn(client);
    const second = await renew(client, first.refreshToken);
    // Two processes of one user may be as fast as each other.
    const third = await renew(client, first.refreshToken);
    if (typeof second === "string" || typeof third === "string") throw new Error("It was not renewed.");
    expect(new Set([first, second, third].map(({ refreshToken }) => refreshToken)).size).toBe(3);
    time.now += 61_000;
    expect(await renew(client, first.refreshToken)).toBe("invalid_grant");
    expect(await renew(client, second.refreshToken)).toBe("invalid_grant");
    const stored = readFileSync(join(root, ".authorization", "refresh-tokens.json"), "utf8");
    for (const { refreshToken } of [first, second, third]) expect(stored).not.toContain(refreshToken);
  });

  test("outlive the server, but not a revocation or a quarter of a year", async () => {
    const { client, root, clock, time } = await open();
    const { refreshToken } = await signIn(client);
    const other = await signIn(client);
    const { url } = await serveDesk(root, { clock });
    const again = createAuthorizationClient(() => url);
    expect(await renew(again, refreshToken)).toMatchObject({ account: { id: "anna" } });
    await again.revokeTokens(refreshToken, signal);
    expect(await renew(again, refreshToken)).toBe("invalid_grant");
    time.now += 91 * 24 * 3_600_000;
    expect(await renew(again, other.refreshToken)).toBe("invalid_grant");
  });
});

describe("pages of other sites", () => {
  function ask(url: string, headers: Readonly<Record<string, string>>, method = "GET"): Promise<number> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { method, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.on("error", reject);
      asked.end();
    });
  }

  test("reach nothing by another name, in a frame or by a form of their own", async () => {
    const { url, client } = await open();
    expect(await ask(`${url}/device`, { host: "evil.example" })).toBe(421);
    const page = await fetch(`${url}/device?user_code=${encodeURIComponent('"><script>')}`);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await page.text()).not.toContain("<script>");
    const { url: approve, deviceCode } = await begin(client);
    const form = new URLSearchParams({ user_code: approve.split("=").at(-1) ?? "", decision: "deny" });
    const answer = await fetch(`${url}/device`, {
      method: "POST",
      body: form,
      headers: { origin: "https://evil.example" },
    });
    expect(answer.status).toBe(403);
    expect(await poll(client, deviceCode)).toBe("authorization_pending");
  });

  test("get no answer to what is no form of a known client", async () => {
    const { url } = await open();
    const post = async (path: string, body: string | URLSearchParams) =>
      (await fetch(`${url}${path}`, { method: "POST", body })).status;
    expect(await post("/token", '{"grant_type":"refresh_token"}')).toBe(400);
    expect(await post("/token", new URLSearchParams({ client_id: "other" }))).toBe(401);
    expect(await post("/token", new URLSearchParams({ client_id: CLIENT_ID, grant_type: "password" }))).toBe(
      400,
    );
    expect(await post("/token", new URLSearchParams({ x: "y".repeat(20_000) }))).toBe(400);
    expect(await post("/elsewhere", new URLSearchParams({ client_id: CLIENT_ID }))).toBe(404);
    expect(await ask(`${url}/token`, {})).toBe(404);
  });
});

test.each([["http://example.org"], ["ftp://127.0.0.1"], ["no address"], ["http://127.0.0.1:9"]])(
  "a client sends nothing to %s, and says so",
  async (server) => {
    const answer = await createAuthorizationClient(() => server).requestDeviceCode(signal);
    expect(answer).toMatchObject({ ok: false, fault: { code: "capability_backend_unavailable" } });
  },
);

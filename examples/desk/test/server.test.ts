/** The sign-in server, as web sites and guessers meet it, and the command that starts it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDesk, temporaryFolder } from "./world.ts";

async function post(url: string, fields: Readonly<Record<string, string>>, headers = {}) {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(fields), headers });
  return { status: answer.status, text: await answer.text() };
}

async function begin(url: string) {
  return JSON.parse((await post(`${url}/device_authorization`, { client_id: "desk-example" })).text);
}

describe("the sign-in server", () => {
  test("gives nothing to a page of another site", async () => {
    const { server } = await openDesk();
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${server.url}/device`, { headers: { host: "evil.example" } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on("error", reject).end();
    });
    expect(status).toBe(421);
    const page = await fetch(`${server.url}/device?user_code=${encodeURIComponent('"><script>')}`);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await page.text()).not.toContain("<script>");
    const { user_code } = await begin(server.url);
    const form = { user_code, decision: "deny" };
    expect((await post(`${server.url}/device`, form, { origin: "https://evil.example" })).status).toBe(403);
  });

  test("ends a sign-in after five wrong passcodes", async () => {
    const { server, decide, passcode } = await openDesk();
    const { device_code, verification_uri_complete: page } = await begin(server.url);
    for (const guess of ["1", "2", "3", "4", "5"]) expect(await decide(page, { passcode: guess })).toBe(403);
    expect(await decide(page, { passcode })).toBe(400);
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const form = { client_id: "desk-example", grant_type, device_code };
    expect((await post(`${server.url}/token`, form)).text).toContain("access_denied");
  });

  test("answers only what it knows, from the client it knows", async () => {
    const { server } = await openDesk();
    const client_id = "desk-example";
    expect((await post(`${server.url}/token`, { client_id: "other" })).text).toContain("invalid_client");
    expect((await post(`${server.url}/token`, { client_id, grant_type: "password" })).status).toBe(400);
    expect((await post(`${server.url}/token`, { x: "y".repeat(20_000) })).status).toBe(500);
    expect((await post(`${server.url}/elsewhere`, { client_id })).status).toBe(404);
    expect((await fetch(`${server.url}/account`, { headers: { authorization: "Bearer x" } })).status).toBe(
      401,
    );
  });
});

describe("node desk.ts", () => {
  test("adds an account once, without keeping its passcode", () => {
    const root = temporaryFolder();
    const run = (...words: readonly string[]) =>
      spawnSync(process.execPath, ["--no-warnings", join(import.meta.dirname, "..", "desk.ts"), ...words], {
        env: { ...process.env, DESK_ROOT: root },
        encoding: "utf8",
      });
    const added = run("add", "ada", "--email", "ada@example.org");
    expect(added).toMatchObject({ status: 0, stderr: "" });
    const passcode = added.stdout.trim().split(" ").at(-1) ?? "";
    const stored = readFileSync(join(root, "ada", "account.json"), "utf8");
    expect(stored).toContain("ada@example.org");
    expect(stored).not.toContain(passcode);
    expect(run("add", "ada", "--email", "ada@example.org").stderr).toContain("exists already");
    expect(run("add", "../ada", "--email", "ada@example.org").stderr).toContain("not an account name");
    expect(run("add", "eve", "--email", "eve@example.org, bob@example.org").stderr).toContain(
      "not a mail address",
    );
    expect(run("remove").status).toBe(2);
  });
});

/** The bridge as a program: who it believes, how an account is linked, and what a user gets. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type DeskWorld, makeMail, openDesk, putMail } from "./world.ts";

/** Links Anna's account for the user of the token. */
async function link({ ask, decide }: DeskWorld, token?: string, capability_id = "desk.mail") {
  const { result: begun } = await ask("auth_begin", { capability_id }, token);
  expect(await decide(begun.auth_url)).toBe(200);
  return ask("auth_poll", { capability_id, flow_state: begun.flow_state }, token);
}

/** The tokens in the drawers of all users. */
function keptTokens({ root }: DeskWorld): readonly { readonly token: string; readonly mode: number }[] {
  return readdirSync(join(root, ".links"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(root, ".links", name))
    .map((path) => ({ ...JSON.parse(readFileSync(path, "utf8")), mode: statSync(path).mode & 0o777 }));
}

async function isGood({ server }: DeskWorld, token: string): Promise<boolean> {
  return (await fetch(`${server.url}/account`, { headers: { authorization: `Bearer ${token}` } })).ok;
}

const LIST = { operation: "list_messages", input_data: {}, account_ref: "desk_anna" };

describe("the bridge", () => {
  test("offers mail and calendar to anyone who starts it, and nothing more without a token", async () => {
    const { ask } = await openDesk();
    const { result } = await ask("definitions", {}, "");
    expect(result.definitions.map(({ id }: { id: string }) => id)).toEqual(["desk.mail", "desk.calendar"]);
    expect(result.forgets).toBe(true);
    expect(await ask("invoke", LIST, "")).toMatchObject({ error: { code: "capability_invalid_input" } });
    expect(await ask("elsewhere")).toMatchObject({
      error: { message: expect.stringContaining("elsewhere") },
    });
  });

  test("believes no token but those that Metier made for it", async () => {
    const { ask, mint } = await openDesk();
    const now = Math.floor(Date.now() / 1000);
    const [head, , signature] = mint().split(".");
    const [, claims] = mint({ sub: "eve" }).split(".");
    const none = Buffer.from('{"alg":"none","typ":"ASH_CONTEXT"}').toString("base64url");
    const wrong = [
      mint({}, {}, Buffer.alloc(32)),
      mint({ aud: "bank" }),
      mint({ exp: now - 60 }),
      mint({ sub: "" }),
      mint({}, { typ: "JWT" }),
      `${head}.${claims}.${signature}`,
      `${none}.${claims}.`,
      "no token",
    ];
    for (const token of wrong)
      expect(await ask("invoke", LIST, token), token).toMatchObject({
        error: { code: "capability_invalid_input" },
      });
    expect(await ask("invoke", LIST)).toMatchObject({ error: { code: "capability_auth_required" } });
  });

  test("links an account, shows it to its user, and keeps the token to itself", async () => {
    const desk = await openDesk();
    putMail(join(desk.root, "anna"), "1.a", makeMail("Lunch?"));
    const linked = await link(desk);
    expect(linked).toMatchObject({
      result: {
        status: "complete",
        account_ref: "desk_anna",
        metadata: { account_name: "Anna", account_email: "anna@example.org" },
      },
    });
    const listed = await desk.ask("invoke", LIST);
    expect(listed).toMatchObject({ result: { output: { messages: [{ id: "1.a", subject: "Lunch?" }] } } });
    expect(await desk.ask("invoke", LIST, desk.mint({ sub: "eve" }))).toMatchObject({
      error: { code: "capability_auth_required" },
    });
    const [kept] = keptTokens(desk);
    expect(kept?.mode).toBe(0o600);
    expect(JSON.stringify([linked, listed])).not.toContain(kept?.token);
  });

  test("a sign-in is for its own user and capability, and works once", async () => {
    const { ask, decide, mint } = await openDesk();
    const { result: begun } = await ask("auth_begin");
    const { flow_state, user_code } = begun;
    expect(begun).toMatchObject({ flow_type: "device_code", poll_interval_seconds: 1 });
    expect(user_code).toMatch(/^[A-Z]{8}$/);
    const invalid = { error: { code: "capability_auth_flow_invalid" } };
    expect(await ask("auth_poll", { flow_state }, mint({ sub: "eve" }))).toMatchObject(invalid);
    expect(await ask("auth_poll", { flow_state, capability_id: "desk.calendar" })).toMatchObject(invalid);
    expect(await ask("auth_poll", { flow_state: { flow: "../../etc" } })).toMatchObject(invalid);
    expect(await ask("auth_poll", { flow_state })).toMatchObject({ result: { status: "pending" } });
    await decide(begun.auth_url);
    expect(await ask("auth_poll", { flow_state })).toMatchObject({ result: { status: "complete" } });
    expect(await ask("auth_poll", { flow_state })).toMatchObject(invalid);
  });

  test("a sign-in that was declined or took too long is over", async () => {
    const { ask, decide } = await openDesk();
    const { result: begun } = await ask("auth_begin");
    await decide(begun.auth_url, { decision: "deny" });
    const { flow_state } = begun;
    expect(await ask("auth_poll", { flow_state })).toMatchObject({
      error: { code: "capability_auth_flow_denied" },
    });
    const late = await openDesk({ codeSeconds: 0.001 });
    const { result: expired } = await late.ask("auth_begin");
    expect(await late.ask("auth_poll", { flow_state: expired.flow_state })).toMatchObject({
      error: { code: "capability_auth_flow_expired" },
    });
  });

  test("mail and calendar are linked and forgotten separately", async () => {
    const desk = await openDesk();
    await link(desk);
    const [ofMail] = keptTokens(desk);
    const events = { ...LIST, capability_id: "desk.calendar", operation: "list_events" };
    const input_data = { from: "2026-03-01", to: "2026-04-01" };
    const required = { error: { code: "capability_auth_required" } };
    expect(await desk.ask("invoke", { ...events, input_data })).toMatchObject(required);
    await link(desk, undefined, "desk.calendar");
    expect(await desk.ask("invoke", { ...events, input_data })).toMatchObject({
      result: { output: { events: [] } },
    });
    const credential_material = { capability: "desk.mail" };
    expect(await desk.ask("auth_forget", { account_ref: "desk_anna", credential_material })).toMatchObject({
      result: {},
    });
    expect(await isGood(desk, ofMail?.token ?? "")).toBe(false);
    expect(await desk.ask("invoke", LIST)).toMatchObject(required);
    expect(await desk.ask("invoke", { ...events, input_data })).toMatchObject({ result: {} });
  });

  test("access that is withdrawn elsewhere ends at once", async () => {
    const desk = await openDesk();
    await link(desk);
    const [kept] = keptTokens(desk);
    expect(await isGood(desk, kept?.token ?? "")).toBe(true);
    const body = new URLSearchParams({ client_id: "desk-example", token: kept?.token ?? "" });
    await fetch(`${desk.server.url}/revoke`, { method: "POST", body });
    expect(await desk.ask("invoke", LIST)).toMatchObject({ error: { code: "capability_auth_required" } });
    expect(keptTokens(desk)).toEqual([]);
  });

  test("says what to do when the sign-in server is away", async () => {
    const { ask, server } = await openDesk();
    await server.close();
    expect(await ask("auth_begin")).toMatchObject({
      error: {
        code: "capability_backend_unavailable",
        message: expect.stringContaining("node desk.ts serve"),
      },
    });
  });
});

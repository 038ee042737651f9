/** The example `examples/desk` as the program that a config starts: real processes, one for each call and one for all. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import { metierPlaces } from "@metier/base/places";
import type { CapabilityProviderConfig } from "@metier/skills/config";
import { describe, expect, onTestFinished, test } from "vitest";
import { faultOf, resultOf, wire } from "../../../../test/support/bridges.ts";
import {
  DESK_COMMAND,
  type ExampleDesk,
  openExampleDesk,
  putMail,
} from "../../../../test/support/desk-example.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { CapabilityCaller, ProviderContext } from "../../src/capability.ts";
import type { CapabilityBroker } from "../../src/capability-broker.ts";
import { createBroker } from "../../src/create-broker.ts";
import { createBridgeTokens } from "../../src/tokens/caller-tokens.ts";

const ALICE: CapabilityCaller = { userId: "alice", chatType: "private", timezone: "Europe/Berlin" };
const EVE: CapabilityCaller = { userId: "eve", chatType: "private" };
const LIST = { capability: "desk.mail", operation: "list_messages" };
const EVENTS = {
  capability: "desk.calendar",
  operation: "list_events",
  input: { from: "2026-03-01", to: "2026-04-01" },
};

interface DeskWorld extends ExampleDesk {
  readonly home: string;
  readonly broker: CapabilityBroker;
  /** As the broker calls it, for one user. */
  readonly provider: NonNullable<ReturnType<typeof wire>[number]["provider"]>;
  context(caller: CapabilityCaller, token?: () => Promise<string>): ProviderContext;
}

/** With accounts for Anna and Bob. */
async function openDeskWorld(
  config: Partial<CapabilityProviderConfig> = {},
  options: Parameters<typeof openExampleDesk>[2] = {},
): Promise<DeskWorld> {
  const home = temporaryFolder();
  const desk = await openExampleDesk(join(home, "accounts"), ["anna", "bob"], options);
  const env = {
    DESK_ROOT: { value: desk.root, secret: false },
    DESK_SERVER: { value: desk.url, secret: false },
  };
  const [wired] = wire({ desk: { command: DESK_COMMAND, env, ...config } }, { places: { home } });
  if (!wired?.provider || !wired.tokens) throw new Error(wired?.fault?.message ?? "There is no desk.");
  const { provider, tokens } = wired;
  const broker = createBroker({ providers: [wired], places: metierPlaces(home), rateLimit: 10_000 });
  onTestFinished(() => broker.close());
  const vault = { put: never, get: never, replace: never, delete: never };
  const context = (caller: CapabilityCaller, token = () => tokens.mint(caller)): ProviderContext => ({
    caller,
    token,
    vault,
    signal: new AbortController().signal,
  });
  return { ...desk, home, broker, provider, context };
}

function never(): Promise<never> {
  return Promise.reject(new Error("A bridge keeps its own secrets."));
}

/** Links an account through the broker, as a user does it. */
async function link(
  { broker, decideOnPage }: DeskWorld,
  caller: CapabilityCaller,
  account: string,
  capability = "desk.mail",
): Promise<void> {
  const flow = resultOf(await broker.auth.begin(caller, { capability }));
  expect(flow).toMatchObject({ flowType: "device_code", pollIntervalSeconds: 1 });
  expect(await decideOnPage(flow.authUrl, account)).toBe(200);
  const polled = resultOf(await broker.auth.poll(caller, flow.flowId));
  expect(polled).toMatchObject({ status: "complete", accountEmail: `${account}@example.org` });
}

async function subjects({ broker }: DeskWorld, caller: CapabilityCaller): Promise<readonly unknown[]> {
  const { output } = resultOf(await broker.invoke(caller, LIST));
  return (output.messages as readonly JsonObject[]).map(({ subject }) => subject);
}

describe.each([
  ["one process for each call", false],
  ["one process for all", true],
])("with %s", (_title, persistent) => {
  verifies(
    172,
    "a user links an account and reads their own mail; another user gets nothing of it",
    async () => {
      const world = await openDeskWorld({ persistent });
      const { broker, home } = world;
      const listed = await broker.list(ALICE);
      expect(listed.map(({ id, sensitive, authenticated }) => ({ id, sensitive, authenticated }))).toEqual([
        { id: "desk.calendar", sensitive: true, authenticated: false },
        { id: "desk.mail", sensitive: true, authenticated: false },
      ]);
      expect(await broker.list({ ...ALICE, chatType: "group" })).toEqual([]);
      await link(world, ALICE, "anna");
      expect(await subjects(world, ALICE)).toEqual(["For anna"]);
      expect(faultOf(await broker.invoke(EVE, LIST)).code).toBe("capability_auth_required");
      const [account] = (await broker.list(ALICE)).flatMap(({ linkedAccounts }) => linkedAccounts);
      expect(account).toMatchObject({ accountName: "anna", accountEmail: "anna@example.org" });
      expect(faultOf(await broker.invoke(EVE, { ...LIST, account: account?.accountRef ?? "" })).code).toBe(
        "capability_auth_required",
      );
      await link(world, EVE, "bob");
      expect([await subjects(world, ALICE), await subjects(world, EVE)]).toEqual([["For anna"], ["For bob"]]);
      for (const file of listFiles(join(home, ".metier")))
        expect(readFileSync(file, "utf8"), file).not.toMatch(/deviceCode|device_code"|access_?token/i);
    },
  );
});

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe("through the bridge", () => {
  verifies(
    ["case 129", "case 132"],
    "a token that is forged, for another provider or absent is not accepted",
    async () => {
      const { provider, context } = await openDeskWorld({ persistent: true });
      const request = { capabilityId: "desk.mail", operation: "list_messages", input: {} };
      const invoke = (token: string) =>
        provider.invoke(
          request,
          context(ALICE, async () => token),
        );
      const good = await context(ALICE).token();
      const [header, , signature] = good.split(".");
      const [, payload] = (await context(EVE).token()).split(".");
      const none = Buffer.from('{"alg":"none","typ":"ASH_CONTEXT","ver":1}').toString("base64url");
      const forged = [
        await createBridgeTokens("desk").mint(ALICE),
        `${header}.${payload}.${signature}`,
        `${none}.${payload}.`,
        "no token",
        "",
      ];
      for (const token of forged)
        expect(faultOf(await invoke(token))).toMatchObject({
          code: "capability_invalid_input",
          message: "The context token is not accepted.",
        });
      expect(faultOf(await invoke(good)).code).toBe("capability_auth_required");
    },
  );

  verifies("case 132", "a sign-in is used once, by its own user", async () => {
    const { provider, context, decideOnPage } = await openDeskWorld({ persistent: true });
    const capabilityId = "desk.mail";
    const poll = async (flowState: JsonObject, caller = ALICE) =>
      (await provider.authPoll?.({ capabilityId, flowState }, context(caller))) ?? absent();
    const flow = resultOf((await provider.authBegin?.({ capabilityId }, context(ALICE))) ?? absent());
    expect(JSON.stringify(flow.flowState)).toMatch(/^\{"flow":"[0-9a-f-]{36}"\}$/);
    expect(faultOf(await poll(flow.flowState, EVE)).code).toBe("capability_auth_flow_invalid");
    expect(resultOf(await poll(flow.flowState))).toMatchObject({ status: "pending", retryAfterSeconds: 1 });
    await decideOnPage(flow.authUrl, "anna");
    expect(resultOf(await poll(flow.flowState))).toMatchObject({
      status: "complete",
      account: { metadata: { account_email: "anna@example.org" } },
    });
    expect(faultOf(await poll(flow.flowState)).code).toBe("capability_auth_flow_invalid");
  });

  verifies("case 132", "a sign-in that was declined, or took too long, links nothing", async () => {
    const { broker, decideOnPage } = await openDeskWorld({ persistent: true });
    const flow = resultOf(await broker.auth.begin(ALICE, { capability: "desk.mail" }));
    await decideOnPage(flow.authUrl, "anna", "deny");
    expect(faultOf(await broker.auth.poll(ALICE, flow.flowId)).code).toBe("capability_auth_flow_denied");
    const { provider, context } = await openDeskWorld({ persistent: true }, { codeSeconds: 0.001 });
    const request = { capabilityId: "desk.mail" };
    const { flowState } = resultOf((await provider.authBegin?.(request, context(ALICE))) ?? absent());
    const late = (await provider.authPoll?.({ ...request, flowState }, context(ALICE))) ?? absent();
    expect(faultOf(late).code).toBe("capability_auth_flow_expired");
  });

  test("a change is made after it was confirmed, once for each key", async () => {
    const world = await openDeskWorld({ persistent: true });
    const { broker, root } = world;
    await link(world, ALICE, "anna");
    const request = {
      capability: "desk.mail",
      operation: "send_message",
      input: { to: ["bob@example.org"], subject: "Hi", text: "Hello" },
      idempotencyKey: "k1",
    };
    const outbox = join(root, "anna", "mail", ".Outbox", "cur");
    expect(faultOf(await broker.invoke(ALICE, request)).code).toBe("capability_mutation_not_confirmed");
    expect(existsSync(outbox)).toBe(false);
    const confirm = async () => "yes" as const;
    const sent = resultOf(await broker.invoke(ALICE, request, { confirm }));
    expect(resultOf(await broker.invoke(ALICE, request, { confirm }))).toMatchObject({
      isRepeat: true,
      output: sent.output,
    });
    expect(readdirSync(outbox)).toHaveLength(1);
  });

  test.each([
    [{ to: [] }],
    [{ to: ["Bob <bob@example.com>"] }],
    [{ to: ["bob@example.com\r\nBcc: eve@example.com"] }],
    [{ subject: "one\nBcc: eve@example.com" }],
    [{ from: "eve@example.com" }],
  ])("the schemas let no message with %j through", async (wrong) => {
    const world = await openDeskWorld({ persistent: true });
    await link(world, ALICE, "anna");
    const input = { to: ["bob@example.org"], subject: "Hi", text: "Hello", ...wrong };
    const request = { capability: "desk.mail", operation: "send_message", input };
    const confirm = async () => "yes" as const;
    expect(faultOf(await world.broker.invoke(ALICE, request, { confirm })).code).toBe(
      "capability_invalid_input",
    );
  });

  test("a mail with a credential in it is shown without it, and hinders no other", async () => {
    const world = await openDeskWorld({ persistent: true });
    await link(world, ALICE, "anna");
    const jwt = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.e30.${"a".repeat(20)}`;
    const left = "[left out: looks like a credential]";
    const account = join(world.root, "anna");
    putMail(account, "2.jwt", `Your token ${jwt}`, `Dear Anna,\nuse ${jwt}\nsoon.`);
    putMail(account, "3.json", "JSON", '{\n  "access_token": "abcdefgh"\n}');
    expect(await subjects(world, ALICE)).toEqual(["JSON", left, "For anna"]);
    const read = async (id: string) => {
      const request = { capability: "desk.mail", operation: "read_message", input: { id } };
      return String(resultOf(await world.broker.invoke(ALICE, request)).output.text).trim();
    };
    expect(await read("2.jwt")).toBe(`Dear Anna,\n${left}\nsoon.`);
    expect(await read("3.json")).toBe(`{\n${left}\n}`);
  });

  test("mail and calendar are linked each by itself, and unlinked each by itself", async () => {
    const world = await openDeskWorld({ persistent: true });
    const { broker, root } = world;
    const kept = () => listFiles(join(root, ".links")).length;
    await link(world, ALICE, "anna");
    expect(faultOf(await broker.invoke(ALICE, EVENTS)).code).toBe("capability_auth_required");
    await link(world, ALICE, "anna", "desk.calendar");
    expect(resultOf(await broker.invoke(ALICE, EVENTS)).output).toMatchObject({ events: [] });
    expect(kept()).toBe(2);
    resultOf(await broker.auth.unlink(ALICE, { capability: "desk.mail" }));
    resultOf(await broker.invoke(ALICE, EVENTS));
    expect(kept()).toBe(1);
  });

  test("a calendar that keeps it busy is ended by the host, and the next call is answered", async () => {
    const world = await openDeskWorld({ persistent: true, timeoutSeconds: 3 });
    const { broker, root } = world;
    await link(world, ALICE, "anna", "desk.calendar");
    await link(world, ALICE, "anna");
    const event = ["BEGIN:VEVENT", "UID:1", "DTSTART:20260302T090000"];
    const rule = "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30";
    const lines = ["BEGIN:VCALENDAR", ...event, rule, "END:VEVENT", "END:VCALENDAR"];
    writeFileSync(join(root, "anna", "calendar", "busy.ics"), lines.join("\r\n"));
    expect(faultOf(await broker.invoke(ALICE, EVENTS)).code).toBe("capability_backend_unavailable");
    expect(await subjects(world, ALICE)).toEqual(["For anna"]);
  });
});

function absent(): never {
  throw new Error("The bridge offers no sign-in.");
}

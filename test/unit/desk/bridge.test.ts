/** The desk as the program that a config starts: real processes, one for each call and one for all, and the broker. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CapabilityCaller, JsonObject } from "../../../src/capabilities/capability.ts";
import type { CapabilityBroker } from "../../../src/capabilities/capability-broker.ts";
import type { ProviderContext } from "../../../src/capabilities/capability-provider.ts";
import { createBroker } from "../../../src/capabilities/create-broker.ts";
import { createBridgeTokens } from "../../../src/capabilities/tokens/bridge-tokens.ts";
import type { CapabilityProviderConfig } from "../../../src/config/config.ts";
import { metierPlaces } from "../../../src/host/places.ts";
import { faultOf, resultOf, wire } from "../../support/bridges.ts";
import { decideOnPage, mail, makeAccount, putMail, serveDesk } from "../../support/desk.ts";
import { filesBelow } from "../../support/sign-in-world.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { verifies } from "../../support/verifies.ts";

const ALICE: CapabilityCaller = { userId: "alice", chatType: "private", timezone: "Europe/Berlin" };
const EVE: CapabilityCaller = { userId: "eve", chatType: "private" };

interface DeskWorld {
  readonly home: string;
  readonly root: string;
  readonly broker: CapabilityBroker;
  /** As the broker calls it, for one user. */
  readonly provider: NonNullable<ReturnType<typeof wire>[number]["provider"]>;
  context(caller: CapabilityCaller, token?: () => Promise<string>): ProviderContext;
}

/** Wired by the preset alone, as `[skills.desk] enabled = true` does, with accounts for Anna and Bob. */
async function openDeskWorld(
  config: Partial<CapabilityProviderConfig> = {},
  server: Parameters<typeof serveDesk>[1] = {},
): Promise<DeskWorld> {
  const home = temporaryFolder();
  const root = join(home, "accounts");
  for (const id of ["anna", "bob"]) putMail(makeAccount(root, id), `1.${id}`, mail(`For ${id}`));
  await serveDesk(root, server);
  const env = { DESK_ROOT: { value: root, secret: true } };
  const settings = { desk: { enabled: true } } as unknown as NonNullable<
    Parameters<typeof wire>[1]
  >["settings"];
  const [wired] = wire(
    { desk: { env, ...config } as CapabilityProviderConfig },
    { places: { home }, ...(settings && { settings }) },
  );
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
  return { home, root, broker, provider, context };
}

function never(): Promise<never> {
  return Promise.reject(new Error("A bridge keeps its own secrets."));
}

/** Links an account through the broker, as a user does it. */
async function link(
  broker: CapabilityBroker,
  caller: CapabilityCaller,
  account: string,
  capability = "desk.mail",
) {
  const flow = resultOf(await broker.auth.begin(caller, { capability }));
  expect(flow).toMatchObject({ flowType: "device_code", pollIntervalSeconds: 1 });
  expect(await decideOnPage(flow.authUrl, account)).toMatchObject({ status: 200 });
  const polled = resultOf(await broker.auth.poll(caller, flow.flowId));
  expect(polled).toMatchObject({ status: "complete", accountEmail: `${account}@example.org` });
  return flow;
}

async function subjects(broker: CapabilityBroker, caller: CapabilityCaller): Promise<readonly unknown[]> {
  const { output } = resultOf(
    await broker.invoke(caller, { capability: "desk.mail", operation: "list_messages" }),
  );
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
      const { broker, home } = await openDeskWorld({ persistent });
      expect(
        (await broker.list(ALICE)).map(({ id, sensitive, authenticated }) => ({
          id,
          sensitive,
          authenticated,
        })),
      ).toEqual([
        { id: "desk.calendar", sensitive: true, authenticated: false },
        { id: "desk.mail", sensitive: true, authenticated: false },
      ]);
      expect(await broker.list({ ...ALICE, chatType: "group" })).toEqual([]);
      await link(broker, ALICE, "anna");
      expect(await subjects(broker, ALICE)).toEqual(["For anna"]);
      const request = { capability: "desk.mail", operation: "list_messages" };
      expect(faultOf(await broker.invoke(EVE, request)).code).toBe("capability_auth_required");
      const [account] = (await broker.list(ALICE)).flatMap(({ linkedAccounts }) => linkedAccounts);
      expect(account).toMatchObject({ accountName: "Anna", accountEmail: "anna@example.org" });
      expect(faultOf(await broker.invoke(EVE, { ...request, account: account?.accountRef ?? "" })).code).toBe(
        "capability_auth_required",
      );
      await link(broker, EVE, "bob");
      expect([await subjects(broker, ALICE), await subjects(broker, EVE)]).toEqual([
        ["For anna"],
        ["For bob"],
      ]);
      for (const file of listFiles(join(home, ".metier")))
        expect(readFileSync(file, "utf8"), file).not.toMatch(/refreshToken|deviceCode|access_?token/i);
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
    "a token that is forged, for another provider, ended or absent is not accepted",
    async () => {
      const { provider, context } = await openDeskWorld({ persistent: true });
      const invoke = (token: () => Promise<string>) =>
        provider.invoke(
          { capabilityId: "desk.mail", operation: "list_messages", input: {} },
          context(ALICE, token),
        );
      const good = await context(ALICE).token();
      const [header, , signature] = good.split(".");
      const claims = {
        sub: "eve",
        aud: "desk",
        iat: Math.floor(Date.now() / 1000),
        exp: Math.ceil(Date.now() / 1000) + 60,
      };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      const none = Buffer.from('{"alg":"none","typ":"ASH_CONTEXT","ver":1}').toString("base64url");
      const refused: readonly (readonly [code: string, token: string])[] = [
        ["signature", await createBridgeTokens("desk").mint(ALICE)],
        ["signature", `${header}.${payload}.${signature}`],
        ["header", `${none}.${payload}.`],
        ["format", "no token"],
        ["missing", ""],
      ];
      for (const [code, token] of refused) {
        const fault = faultOf(await invoke(async () => token));
        expect([fault.code, fault.message]).toEqual([
          "capability_invalid_input",
          expect.stringContaining(`The context token is not accepted (${code}).`),
        ]);
      }
      expect(faultOf(await invoke(async () => good)).code).toBe("capability_auth_required");
    },
  );

  verifies("case 132", "a sign-in is used once, by its own user, and not after its end", async () => {
    const { provider, context } = await openDeskWorld({ persistent: true }, { deviceCodeSeconds: 1 });
    const begin = async () =>
      resultOf((await provider.authBegin?.({ capabilityId: "desk.mail" }, context(ALICE))) ?? absent());
    const poll = async (flowState: JsonObject, caller = ALICE) =>
      (await provider.authPoll?.({ capabilityId: "desk.mail", flowState }, context(caller))) ?? absent();
    const flow = await begin();
    expect(JSON.stringify(flow.flowState)).toMatch(/^\{"flow":"vlt_[0-9a-f]{32}"\}$/);
    expect(faultOf(await poll(flow.flowState, EVE)).code).toBe("capability_auth_flow_invalid");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(faultOf(await poll(flow.flowState)).code).toBe("capability_auth_flow_expired");
    expect(faultOf(await poll(flow.flowState)).code).toBe("capability_auth_flow_invalid");
    expect(faultOf(await poll({ flow: "../../etc" })).code).toBe("capability_auth_flow_invalid");
  });

  verifies("case 132", "a sign-in that was completed cannot be completed again", async () => {
    const { provider, context } = await openDeskWorld({ persistent: true });
    const poll = async (flowState: JsonObject) =>
      (await provider.authPoll?.({ capabilityId: "desk.mail", flowState }, context(ALICE))) ?? absent();
    const flow = resultOf(
      (await provider.authBegin?.({ capabilityId: "desk.mail" }, context(ALICE))) ?? absent(),
    );
    expect(resultOf(await poll(flow.flowState))).toMatchObject({ status: "pending", retryAfterSeconds: 1 });
    expect(resultOf(await poll(flow.flowState))).toMatchObject({ status: "pending", retryAfterSeconds: 6 });
    await decideOnPage(flow.authUrl, "anna");
    const done = resultOf(await poll(flow.flowState));
    expect(done).toMatchObject({
      status: "complete",
      account: { metadata: { account_email: "anna@example.org" } },
    });
    expect(faultOf(await poll(flow.flowState)).code).toBe("capability_auth_flow_invalid");
  });

  test("who says no on the page links nothing", async () => {
    const { broker } = await openDeskWorld({ persistent: true });
    const flow = resultOf(await broker.auth.begin(ALICE, { capability: "desk.mail" }));
    await decideOnPage(flow.authUrl, "anna", { decision: "deny" });
    expect(faultOf(await broker.auth.poll(ALICE, flow.flowId)).code).toBe("capability_auth_flow_denied");
  });

  test("tokens that have ended are renewed; access that was withdrawn asks for a new sign-in", async () => {
    const { broker, root } = await openDeskWorld({ persistent: true }, { accessTokenSeconds: 1 });
    await link(broker, ALICE, "anna");
    expect(await subjects(broker, ALICE)).toEqual(["For anna"]);
    expect(await subjects(broker, ALICE)).toEqual(["For anna"]);
    const file = join(root, ".authorization", "refresh-tokens.json");
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).tokens).length).toBeGreaterThan(2);
    rmSync(join(root, "anna", "account.json"));
    const fault = faultOf(
      await broker.invoke(ALICE, { capability: "desk.mail", operation: "list_messages" }),
    );
    expect(fault.code).toBe("capability_auth_required");
  });

  test("a change is made after it was confirmed, once for each key", async () => {
    const { broker, root } = await openDeskWorld({ persistent: true });
    await link(broker, ALICE, "anna");
    const request = {
      capability: "desk.mail",
      operation: "send_message",
      input: { to: ["bob@example.org"], subject: "Hi", text: "Hello" },
      idempotencyKey: "k1",
    };
    expect(faultOf(await broker.invoke(ALICE, request)).code).toBe("capability_mutation_not_confirmed");
    const confirm = async () => "yes" as const;
    const sent = resultOf(await broker.invoke(ALICE, request, { confirm }));
    expect(resultOf(await broker.invoke(ALICE, request, { confirm }))).toMatchObject({
      isRepeat: true,
      output: sent.output,
    });
    expect(readdirSync(join(root, "anna", "mail", ".Outbox", "cur"))).toHaveLength(1);
  });

  test("a mail with a credential in it is shown without it, and hinders no other", async () => {
    const { broker, root } = await openDeskWorld({ persistent: true });
    await link(broker, ALICE, "anna");
    const jwt = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.e30.${"a".repeat(20)}`;
    putMail(join(root, "anna"), "2.jwt", mail(`Your token ${jwt}`, `Dear Anna,\nuse ${jwt}\nsoon.`));
    putMail(join(root, "anna"), "3.json", mail("JSON", '{\n  "access_token": "abcdefgh"\n}'));
    expect(await subjects(broker, ALICE)).toEqual(["JSON", "[left out: it is a JSON Web Token]", "For anna"]);
    const read = async (id: string) =>
      resultOf(
        await broker.invoke(ALICE, { capability: "desk.mail", operation: "read_message", input: { id } }),
      ).output.text;
    expect(await read("2.jwt")).toBe("Dear Anna,\n[left out: it is a JSON Web Token]\nsoon.");
    expect(await read("3.json")).toBe("[left out: it is named like a credential]");
  });

  test("mail and calendar are linked each by itself, and unlinked each by itself", async () => {
    const { broker, home, root } = await openDeskWorld({ persistent: true });
    const secrets = () =>
      filesBelow(join(home, ".metier", "state", "desk", "vault")).filter((name) => name.endsWith(".jwe"))
        .length;
    const grants = () => {
      const file = join(root, ".authorization", "refresh-tokens.json");
      return Object.keys((JSON.parse(readFileSync(file, "utf8")) as { tokens: object }).tokens).length;
    };
    await link(broker, ALICE, "anna");
    const events = { capability: "desk.calendar", operation: "list_events" };
    expect(faultOf(await broker.invoke(ALICE, events)).code).toBe("capability_auth_required");
    await link(broker, ALICE, "anna", "desk.calendar");
    expect(resultOf(await broker.invoke(ALICE, events)).output).toMatchObject({
      events: [],
      timezone: "Europe/Berlin",
    });
    expect([secrets(), grants()]).toEqual([2, 2]);
    resultOf(await broker.auth.unlink(ALICE, { capability: "desk.mail" }));
    resultOf(await broker.invoke(ALICE, events));
    expect([secrets(), grants()]).toEqual([1, 1]);
  });
});

function absent(): never {
  throw new Error("The bridge offers no sign-in.");
}

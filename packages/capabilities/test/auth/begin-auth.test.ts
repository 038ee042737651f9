import { describe, expect, test } from "vitest";
import { ALICE, BOB } from "../../../../test/support/capability-broker.ts";
import { answered, begin, faultOf, openSignInWorld, START } from "../../../../test/support/sign-in-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerWith, type BegunAuth } from "../../src/capability.ts";

describe("a sign-in that is begun", () => {
  verifies(
    [172, "case 119"],
    "has an id, an address and an end, and nothing of what the provider keeps",
    async () => {
      const world = openSignInWorld();
      const flow = await begin(world, ALICE);
      expect(flow).toEqual({
        flowId: expect.stringMatching(/^caf_[0-9a-f]{24}$/) as string,
        capability: "door.mail",
        authUrl: expect.stringContaining("https://door.example/authorize") as string,
        flowType: "authorization_code",
        expiresAt: new Date(START + 1800_000).toISOString(),
      });
      expect(await begin(world, ALICE, "door.safe")).toMatchObject({
        flowType: "device_code",
        userCode: "WDJB-MJHT",
        pollIntervalSeconds: 5,
      });
    },
  );

  verifies(
    "case 119",
    "is taken up again while it is pending, for the same user, capability and account",
    async () => {
      const world = openSignInWorld();
      const first = await begin(world, ALICE);
      expect(await begin(world, ALICE)).toEqual(first);
      expect(await begin(world, ALICE, "door.mail", "  ")).toEqual(first);
      const ids = [
        first.flowId,
        (await begin(world, ALICE, "door.mail", "work")).flowId,
        (await begin(world, ALICE, "door.diary")).flowId,
        (await begin(world, BOB)).flowId,
      ];
      expect(new Set(ids).size).toBe(4);
      expect(world.calls).toEqual([
        "begin door.mail",
        "begin door.mail work",
        "begin door.diary",
        "begin door.mail",
      ]);
      world.clock.now += 1800_000;
      expect((await begin(world, ALICE)).flowId).not.toBe(first.flowId);
    },
  );

  test("for another place to send the browser to is another one, unless no browser is sent", async () => {
    const world = openSignInWorld();
    const ids = async (capability: string): Promise<ReadonlySet<string>> => {
      const places = [{}, { redirectUri: "http://127.0.0.1:1/" }, { redirectUri: "http://127.0.0.1:2/" }];
      const flows = [];
      for (const place of places)
        flows.push(answered(await world.auth.begin(ALICE, { capability, ...place })));
      return new Set(flows.map(({ flowId }) => flowId));
    };
    expect((await ids("door.mail")).size).toBe(3);
    expect((await ids("door.safe")).size).toBe(1);
  });

  test("twice at the same moment is one", async () => {
    const world = openSignInWorld();
    const flows = await Promise.all([1, 2, 3].map(() => begin(world, ALICE)));
    expect(new Set(flows.map(({ flowId }) => flowId)).size).toBe(1);
    expect((await world.auth.list(ALICE)).length).toBe(1);
  });

  verifies("case 119", "is listed for its user alone, by capability and account, newest first", async () => {
    const world = openSignInWorld();
    const first = await begin(world, ALICE);
    world.clock.now += 1000;
    const second = await begin(world, ALICE, "door.mail", "work");
    world.clock.now += 1000;
    const diary = await begin(world, ALICE, "door.diary");
    const ofBob = await begin(world, BOB);
    expect(await world.auth.list(ALICE)).toEqual([diary, second, first]);
    expect(await world.auth.list(ALICE, { capability: "door.mail" })).toEqual([second, first]);
    expect(await world.auth.list(ALICE, { account: "work" })).toEqual([second]);
    expect(await world.auth.list(BOB)).toEqual([ofBob]);
    const inGroup = { ...ALICE, chatType: "group" };
    expect(await world.auth.list(inGroup)).toEqual([second, first]);
    expect(await world.auth.list({ ...ALICE, declared: ["door.diary"] })).toEqual([diary]);
    world.clock.now += 1799_000;
    expect(await world.auth.list(ALICE)).toEqual([diary]);
  });

  test("for what the caller may not use, or what has no sign-in, is refused", async () => {
    const world = openSignInWorld();
    const codes = async (caller: typeof ALICE, capability: string): Promise<string> =>
      faultOf(await world.auth.begin(caller, { capability })).code;
    expect(await codes(ALICE, "door.none")).toBe("capability_not_found");
    expect(await codes(ALICE, "nonsense")).toBe("capability_not_found");
    expect(await codes({ ...ALICE, chatType: "group" }, "door.diary")).toBe("capability_access_denied");
    expect(await codes({ ...ALICE, declared: ["door.mail"] }, "door.diary")).toBe("capability_access_denied");
    const hint = await world.auth.begin(ALICE, { capability: "door.mail", account: "a\u0007b" });
    expect(faultOf(hint).code).toBe("capability_invalid_input");
    const plain = openSignInWorld({ provider: { authBegin: undefined as never } });
    expect(faultOf(await plain.auth.begin(ALICE, { capability: "door.mail" })).message).toContain(
      "has no sign-in",
    );
    expect(world.calls).toEqual([]);
  });

  test("lasts as long as its provider says, or the host, but never less than half a minute", async () => {
    const endsAfter = async (world: ReturnType<typeof openSignInWorld>): Promise<number> =>
      (Date.parse((await begin(world, ALICE)).expiresAt) - START) / 1000;
    expect(await endsAfter(openSignInWorld())).toBe(1800);
    expect(await endsAfter(openSignInWorld({ flowTtlSeconds: 60 }))).toBe(60);
    expect(await endsAfter(openSignInWorld({ flowTtlSeconds: 1 }))).toBe(30);
    const authUrl = "https://door.example/";
    for (const [given, kept] of [
      [300, 300],
      [365 * 86_400, 86_400],
    ] as const) {
      const expiresAt = new Date(START + given * 1000).toISOString();
      const authBegin = async () =>
        answerWith({ authUrl, flowType: "authorization_code" as const, flowState: {}, expiresAt });
      expect(await endsAfter(openSignInWorld({ provider: { authBegin } }))).toBe(kept);
    }
  });

  test("is bounded in number", async () => {
    const world = openSignInWorld();
    for (let number = 0; number < 50; number++) await begin(world, ALICE, "door.mail", `a${number}`);
    const fault = faultOf(await world.auth.begin(ALICE, { capability: "door.mail", account: "more" }));
    expect(fault).toMatchObject({ code: "capability_rate_limited", retryAfterSeconds: 1800 });
    expect((await begin(world, BOB)).flowId).toBeDefined();
  });

  test("by a provider that answers what cannot be used is refused", async () => {
    const sound: BegunAuth = {
      authUrl: "https://door.example/",
      flowType: "authorization_code",
      flowState: {},
    };
    const wrong: Readonly<Record<string, unknown>>[] = [
      { authUrl: "http://door.example/" },
      { authUrl: "javascript:alert(1)" },
      { authUrl: "https://user:word@door.example/" },
      { authUrl: "https://door.example/?client_secret=abc" },
      { authUrl: "https://door.example/\u202e" },
      { authUrl: undefined },
      { flowType: "password" },
      { flowState: "text" },
      { flowState: { text: "x".repeat(200_000) } },
      { expiresAt: "soon" },
      { expiresAt: new Date(START).toISOString() },
      { userCode: "" },
      { expectedCallbackState: "a\nb" },
    ];
    for (const part of wrong) {
      const authBegin = async () => answerWith({ ...sound, ...part } as BegunAuth);
      const world = openSignInWorld({ provider: { authBegin } });
      const fault = faultOf(await world.auth.begin(ALICE, { capability: "door.mail" }));
      expect(fault.code, JSON.stringify(part).slice(0, 80)).toBe("capability_invalid_output");
      expect(await world.auth.list(ALICE)).toEqual([]);
    }
    for (const authUrl of ["http://localhost:1/", "http://127.0.0.1/x", "http://[::1]:8/"]) {
      const world = openSignInWorld({
        provider: { authBegin: async () => answerWith({ ...sound, authUrl }) },
      });
      expect((await begin(world, ALICE)).authUrl).toBe(authUrl);
    }
  });
});

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALICE, BOB } from "../../../../test/support/capability-broker.ts";
import {
  answered,
  begin,
  faultOf,
  filesBelow,
  linkedAccounts,
  openSignInWorld,
  stateOf,
  VERIFIER,
} from "../../../../test/support/sign-in-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerFault, answerWith } from "../../src/capability.ts";

const ACCOUNT = { accountRef: "account-1", credentialMaterial: {}, metadata: {} };

describe("a sign-in with a code", () => {
  verifies(["case 119", "case 120"], "links the account to its user alone, and is over then", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    expect(answered(await world.auth.complete(ALICE, { flowId, code: "abc" }))).toEqual({
      flowId,
      capability: "door.mail",
      accountRef: "account-1",
      accountName: "Ada",
      accountEmail: "ada@example.com",
    });
    expect(await linkedAccounts(world, ALICE)).toEqual(["account-1"]);
    expect(await linkedAccounts(world, BOB)).toEqual([]);
    expect(await linkedAccounts(world, ALICE, "door.diary")).toEqual([]);
    expect(await world.auth.list(ALICE)).toEqual([]);
  });

  verifies(["case 119", "case 132"], "is the same as none for another user", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    const ofAlice = faultOf(await world.auth.complete(BOB, { flowId, code: "abc" }));
    const unknown = faultOf(await world.auth.complete(BOB, { flowId: `caf_${"0".repeat(24)}`, code: "abc" }));
    expect(ofAlice.code).toBe("capability_auth_flow_invalid");
    expect(JSON.stringify(ofAlice).replace(flowId, "")).toBe(
      JSON.stringify(unknown).replace(`caf_${"0".repeat(24)}`, ""),
    );
    expect(faultOf(await world.auth.poll(BOB, flowId)).code).toBe("capability_auth_flow_invalid");
    const state = new URL((await begin(world, ALICE)).authUrl).searchParams.get("state");
    const address = `http://localhost:8085/?code=abc&state=${state}`;
    expect(faultOf(await world.auth.completeCallback(BOB, address)).code).toBe(
      "capability_auth_flow_invalid",
    );
    expect(world.calls).toEqual(["begin door.mail"]);
  });

  verifies("case 132", "that was used once, or took too long, is refused", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    answered(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    expect(faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" })).code).toBe(
      "capability_auth_flow_invalid",
    );
    const late = await begin(world, ALICE, "door.diary");
    world.clock.now += 1800_000;
    const expired = faultOf(await world.auth.complete(ALICE, { flowId: late.flowId, code: "abc" }));
    expect(expired.code).toBe("capability_auth_flow_expired");
    expect(expired.message).toContain(late.expiresAt);
    expect(world.calls.filter((call) => call.startsWith("complete"))).toEqual(["complete door.mail abc"]);
    await world.auth.list(ALICE);
    world.clock.now += 25 * 3600_000;
    await world.auth.list(ALICE);
    expect(faultOf(await world.auth.complete(ALICE, { flowId: late.flowId, code: "abc" })).code).toBe(
      "capability_auth_flow_invalid",
    );
    expect(filesBelow(join(world.base, "state", "capabilities", "flows"))).toEqual([]);
  });

  verifies("case 121", "is given the code, the address and the state, and its own state back", async () => {
    const asked: unknown[] = [];
    const authComplete = async (request: unknown) => {
      asked.push(request);
      return answerWith(ACCOUNT);
    };
    const world = openSignInWorld({ provider: { authComplete } });
    const flow = await begin(world, ALICE);
    const callbackUrl = `http://localhost:8085/?code=4%2Fabc&state=${stateOf(flow)}`;
    answered(await world.auth.complete(ALICE, { flowId: flow.flowId, code: `<${callbackUrl}>` }));
    expect(asked).toEqual([
      {
        capabilityId: "door.mail",
        flowState: { verifier: VERIFIER, number: 1 },
        authorizationCode: "4/abc",
        rawCallbackUrl: callbackUrl,
        state: stateOf(flow),
      },
    ]);
  });

  verifies("case 121", "that is answered wrongly stays pending, and the provider is not asked", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    const complete = async (given: { code?: string; callbackUrl?: string }): Promise<string> =>
      faultOf(await world.auth.complete(ALICE, { flowId, ...given })).code;
    expect(await complete({})).toBe("capability_auth_code_missing");
    expect(await complete({ callbackUrl: "no address" })).toBe("capability_auth_callback_invalid");
    expect(await complete({ code: "a", callbackUrl: "http://localhost/?code=b" })).toBe(
      "capability_auth_code_conflict",
    );
    expect(await complete({ callbackUrl: "http://localhost/?code=a&state=other" })).toBe(
      "capability_auth_state_mismatch",
    );
    expect(world.calls).toEqual(["begin door.mail"]);
    expect((await world.auth.list(ALICE)).length).toBe(1);
  });

  verifies("case 121", "that was denied is over", async () => {
    const world = openSignInWorld();
    const flow = await begin(world, ALICE);
    const callbackUrl = `http://localhost:8085/?error=access_denied&state=${stateOf(flow)}`;
    expect(faultOf(await world.auth.completeCallback(ALICE, callbackUrl)).code).toBe(
      "capability_auth_flow_denied",
    );
    expect(await world.auth.list(ALICE)).toEqual([]);
    expect(world.calls).toEqual(["begin door.mail"]);
  });

  test("that the provider fails to complete stays pending, and one it calls denied or expired is over", async () => {
    let code: "capability_backend_unavailable" | "capability_auth_flow_denied" =
      "capability_backend_unavailable";
    const world = openSignInWorld({
      provider: { authComplete: async () => answerFault(code, "It said no.") },
    });
    const { flowId } = await begin(world, ALICE);
    const first = faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    expect(first).toMatchObject({ code, message: "It said no." });
    expect((await world.auth.list(ALICE)).length).toBe(1);
    code = "capability_auth_flow_denied";
    expect(faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" })).code).toBe(code);
    expect(await world.auth.list(ALICE)).toEqual([]);
  });

  verifies(172, "is not completed by guessing: tries count like calls, and so do beginnings", async () => {
    const wrongCode = async () => answerFault("capability_invalid_input", "That is no code of ours.");
    const world = openSignInWorld({ provider: { authComplete: wrongCode }, rateLimit: 3 });
    const { flowId } = await begin(world, ALICE);
    const guess = async (code: string): Promise<string> =>
      faultOf(await world.auth.complete(ALICE, { flowId, code })).code;
    expect([await guess("a1"), await guess("a2"), await guess("a3")]).toEqual([
      "capability_invalid_input",
      "capability_invalid_input",
      "capability_rate_limited",
    ]);
    const another = { capability: "door.mail", account: "another" };
    expect(faultOf(await world.auth.begin(ALICE, another)).code).toBe("capability_rate_limited");
    expect((await begin(world, BOB)).flowId).toBeDefined();
    world.clock.now += 60_000;
    expect(await guess("a4")).toBe("capability_invalid_input");
  });

  test("is completed by one of those who try at once, and asked for once", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    const tries = [1, 2, 3, 4].map(() => world.auth.complete(ALICE, { flowId, code: "abc" }));
    const answers = await Promise.all(tries);
    expect(answers.filter(({ ok }) => ok).length).toBe(1);
    const refused = answers.flatMap((answer) => (answer.ok ? [] : [answer.fault.code]));
    expect(refused).toEqual(Array(3).fill("capability_auth_flow_invalid"));
    expect(world.calls).toEqual(["begin door.mail", "complete door.mail abc"]);
  });

  verifies("case 123", "is refused when the account that comes of it holds a credential", async () => {
    for (const part of [
      { credentialMaterial: { nested: [{ access_token: "x" }] } },
      { credentialMaterial: { refreshToken: "x" } },
      { metadata: { deep: { "Set-Cookie": "x" } } },
      { credentialMaterial: { note: `Bearer ${"a1".repeat(20)}` } },
      { accountRef: "" },
      { accountRef: "a\u0000b" },
      { accountRef: "x".repeat(300) },
      { credentialMaterial: "text" },
    ]) {
      const answer = { ...ACCOUNT, ...part } as typeof ACCOUNT;
      const world = openSignInWorld({
        provider: {
          authComplete: async () => answerWith(answer),
          authPoll: async () => answerWith({ status: "complete", account: answer }),
        },
      });
      const coded = await begin(world, ALICE);
      const completed = await world.auth.complete(ALICE, { flowId: coded.flowId, code: "abc" });
      const device = await begin(world, ALICE, "door.safe");
      const polled = await world.auth.poll(ALICE, device.flowId);
      for (const refused of [completed, polled]) {
        expect(faultOf(refused).code, JSON.stringify(part).slice(0, 60)).toBe("capability_invalid_output");
      }
      expect(await linkedAccounts(world, ALICE)).toEqual([]);
      expect(await linkedAccounts(world, ALICE, "door.safe")).toEqual([]);
    }
  });
});

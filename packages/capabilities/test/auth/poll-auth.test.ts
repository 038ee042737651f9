import { describe, expect, test } from "vitest";
import { ALICE } from "../../../../test/support/capability-broker.ts";
import {
  answered,
  begin,
  faultOf,
  linkedAccounts,
  openSignInWorld,
  VERIFIER,
} from "../../../../test/support/sign-in-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerFault, answerWith } from "../../src/capability.ts";

const ACCOUNT = { accountRef: "account-1", credentialMaterial: {}, metadata: {} };

describe("a sign-in with a device", () => {
  verifies(
    "case 122",
    "is pending until the user has done their part, and then the account is linked",
    async () => {
      let isDone = false;
      const world = openSignInWorld({
        provider: {
          authPoll: async () =>
            answerWith(
              isDone ? { status: "complete", account: ACCOUNT } : { status: "pending", retryAfterSeconds: 5 },
            ),
        },
      });
      const { flowId } = await begin(world, ALICE, "door.safe");
      expect(answered(await world.auth.poll(ALICE, flowId))).toEqual({
        status: "pending",
        flowId,
        retryAfterSeconds: 5,
      });
      isDone = true;
      world.clock.now += 5000;
      expect(answered(await world.auth.poll(ALICE, flowId))).toEqual({
        status: "complete",
        flowId,
        capability: "door.safe",
        accountRef: "account-1",
      });
      expect(await linkedAccounts(world, ALICE, "door.safe")).toEqual(["account-1"]);
      expect(faultOf(await world.auth.poll(ALICE, flowId)).code).toBe("capability_auth_flow_invalid");
    },
  );

  verifies("case 122", "is the only one that is polled, and is not completed with a code", async () => {
    const world = openSignInWorld();
    const coded = await begin(world, ALICE);
    expect(faultOf(await world.auth.poll(ALICE, coded.flowId)).code).toBe("capability_invalid_input");
    const device = await begin(world, ALICE, "door.safe");
    const completed = await world.auth.complete(ALICE, { flowId: device.flowId, code: "abc" });
    expect(faultOf(completed).code).toBe("capability_invalid_input");
  });

  test("asks its provider no more often than that allows, and slower for good once told so", async () => {
    const waits = [5, 10, 5];
    let asked = 0;
    const authPoll = async () =>
      answerWith({ status: "pending", retryAfterSeconds: waits[asked++] ?? 5 } as const);
    const world = openSignInWorld({ provider: { authPoll } });
    const { flowId } = await begin(world, ALICE, "door.safe");
    const poll = async (): Promise<unknown> => {
      const polled = answered(await world.auth.poll(ALICE, flowId));
      return polled.status === "pending" ? polled.retryAfterSeconds : polled;
    };
    expect(await poll()).toBe(5);
    world.clock.now += 2000;
    expect(await poll()).toBe(3);
    expect(asked).toBe(1);
    world.clock.now += 3000;
    expect(await poll()).toBe(10);
    world.clock.now += 10_000;
    expect(await poll()).toBe(10);
    expect(asked).toBe(3);
    expect((await world.auth.list(ALICE))[0]?.pollIntervalSeconds).toBe(10);
  });

  test("gives its provider the state of the last poll", async () => {
    const states: unknown[] = [];
    const authPoll: NonNullable<Parameters<typeof openSignInWorld>[0]>["provider"] = {
      authPoll: async ({ flowState }) => {
        states.push(flowState);
        return answerWith({ status: "pending", retryAfterSeconds: 1, flowState: { round: states.length } });
      },
    };
    const world = openSignInWorld({ provider: authPoll });
    const { flowId } = await begin(world, ALICE, "door.safe");
    for (let round = 0; round < 3; round++) {
      await world.auth.poll(ALICE, flowId);
      world.clock.now += 10_000;
    }
    expect(states).toEqual([{ verifier: VERIFIER, number: 1 }, { round: 1 }, { round: 2 }]);
  });

  test("that the user denied is over, one whose provider fails is not, and a strange answer is a fault", async () => {
    const answers = [
      answerFault("capability_backend_unavailable", "Away.", { retryAfterSeconds: 30 }),
      answerWith({ status: "perhaps" }),
      answerFault("capability_auth_flow_denied", "No."),
    ];
    const authPoll = async () => answers.shift() as never;
    const world = openSignInWorld({ provider: { authPoll } });
    const { flowId } = await begin(world, ALICE, "door.safe");
    expect(faultOf(await world.auth.poll(ALICE, flowId)).code).toBe("capability_backend_unavailable");
    expect(answered(await world.auth.poll(ALICE, flowId))).toMatchObject({ retryAfterSeconds: 30 });
    world.clock.now += 30_000;
    expect(faultOf(await world.auth.poll(ALICE, flowId)).code).toBe("capability_invalid_output");
    world.clock.now += 30_000;
    expect(faultOf(await world.auth.poll(ALICE, flowId)).code).toBe("capability_auth_flow_denied");
    expect(await world.auth.list(ALICE)).toEqual([]);
  });

  test("polled by two at once is asked for once", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE, "door.safe");
    const polls = await Promise.all([world.auth.poll(ALICE, flowId), world.auth.poll(ALICE, flowId)]);
    expect(polls.map((polled) => answered(polled).status)).toEqual(["pending", "pending"]);
    expect(world.calls).toEqual(["begin door.safe", "poll door.safe"]);
  });
});

import { describe, expect, test } from "vitest";
import { ALICE } from "../../../../test/support/capability-broker.ts";
import {
  answered,
  begin,
  faultOf,
  openSignInWorld,
  stateOf,
} from "../../../../test/support/sign-in-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("an address alone", () => {
  verifies("case 121", "completes the sign-in whose state it carries", async () => {
    const world = openSignInWorld();
    await begin(world, ALICE);
    const diary = await begin(world, ALICE, "door.diary");
    const callback = `\`http://localhost:8085/?code=abc&state=${stateOf(diary)}\``;
    const completed = answered(await world.auth.completeCallback(ALICE, callback));
    expect(completed).toMatchObject({ flowId: diary.flowId, capability: "door.diary" });
  });

  verifies(
    "case 121",
    "without a state is enough for one pending sign-in and ambiguous for two",
    async () => {
      const world = openSignInWorld();
      const callback = "http://localhost:8085/?code=abc";
      expect(faultOf(await world.auth.completeCallback(ALICE, callback)).code).toBe(
        "capability_auth_flow_invalid",
      );
      const mail = await begin(world, ALICE);
      const diary = await begin(world, ALICE, "door.diary");
      await begin(world, ALICE, "door.safe");
      const fault = faultOf(await world.auth.completeCallback(ALICE, callback));
      expect(fault.code).toBe("capability_auth_flow_ambiguous");
      expect(fault.hint).toContain(mail.flowId);
      expect(fault.hint).toContain(diary.flowId);
      const mismatch = faultOf(await world.auth.completeCallback(ALICE, `${callback}&state=unknown`));
      expect(mismatch.code).toBe("capability_auth_state_mismatch");
      answered(await world.auth.complete(ALICE, { flowId: mail.flowId, code: "abc" }));
      expect(answered(await world.auth.completeCallback(ALICE, callback)).flowId).toBe(diary.flowId);
      expect(faultOf(await world.auth.completeCallback(ALICE, "no address")).code).toBe(
        "capability_auth_callback_invalid",
      );
    },
  );

  test("completes nothing that the run's skill does not declare", async () => {
    const world = openSignInWorld();
    const flow = await begin(world, ALICE);
    const callback = `http://localhost:8085/?code=abc&state=${stateOf(flow)}`;
    const other = { ...ALICE, declared: ["door.diary"] };
    expect(faultOf(await world.auth.completeCallback(other, callback)).code).toBe(
      "capability_auth_flow_invalid",
    );
    expect(faultOf(await world.auth.complete(other, { flowId: flow.flowId, code: "a" })).code).toBe(
      "capability_access_denied",
    );
  });
});

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALICE, BOB } from "../../../../test/support/capability-broker.ts";
import {
  ACCESS,
  answered,
  begin,
  faultOf,
  filesBelow,
  linkedAccounts,
  openSignInWorld,
  VERIFIER,
} from "../../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";

describe("on disk", () => {
  test("a sign-in survives its process, and no secret of it can be read anywhere", async () => {
    const home = temporaryFolder();
    const first = openSignInWorld({ home });
    const { flowId } = await begin(first, ALICE);
    const device = await begin(first, ALICE, "door.safe");
    const second = openSignInWorld({ home });
    expect(await second.auth.list(ALICE)).toEqual(await first.auth.list(ALICE));
    answered(await second.auth.complete(ALICE, { flowId, code: "one-time-code-123456" }));
    answered(await second.auth.poll(ALICE, device.flowId));
    expect(await linkedAccounts(openSignInWorld({ home }), ALICE)).toEqual(["account-1"]);
    const files = filesBelow(home);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const text = readFileSync(file, "latin1");
      for (const secret of [VERIFIER, ACCESS, "one-time-code-123456"]) {
        expect(text, file).not.toContain(secret);
        expect(text, file).not.toContain(Buffer.from(secret).toString("base64url").slice(0, 30));
      }
      expect(statSync(file).mode & 0o077, file).toBe(0);
    }
  });

  test("a damaged file is a fault for its user, with the way out, and for nobody else", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    const file = filesBelow(join(world.base, "state")).find((path) => path.includes(flowId)) ?? "";
    for (const damage of ["", "[]", '{"version":1}', readFileSync(file, "utf8").replace("alice", "bob")]) {
      writeFileSync(file, damage);
      const fault = faultOf(await world.auth.begin(ALICE, { capability: "door.mail" }));
      expect(fault.code).toBe("capability_backend_unavailable");
      expect(fault.hint).toContain(`rm '${file}'`);
      await expect(world.auth.list(ALICE)).rejects.toMatchObject({ code: "capability.state" });
      expect((await begin(world, BOB)).capability).toBe("door.mail");
    }
  });

  test("a sign-in whose state is lost is over, and another one can begin", async () => {
    const world = openSignInWorld();
    const { flowId } = await begin(world, ALICE);
    const [entry = ""] = filesBelow(join(world.base, "vault")).filter((file) => file.endsWith(".jwe"));
    writeFileSync(entry, "");
    const damaged = faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    expect(damaged).toMatchObject({ code: "capability_backend_unavailable" });
    rmSync(entry);
    expect(faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" })).code).toBe(
      "capability_auth_flow_invalid",
    );
    expect((await begin(world, ALICE)).flowId).not.toBe(flowId);
  });
});

test("every act is in the audit log, with intent before a change, and without a secret", async () => {
  const world = openSignInWorld();
  const caller = { ...ALICE, runId: "run-1", skill: "mail", chatId: "7" };
  const { flowId } = await begin(world, caller);
  const device = await begin(world, caller, "door.safe");
  await world.auth.complete(caller, { flowId: "caf_none", code: "secret-code-1" });
  await world.auth.complete(caller, { flowId, code: "secret-code-2" });
  await world.auth.poll(caller, device.flowId);
  await world.auth.unlink(caller, { capability: "door.mail" });
  const told = world
    .audit()
    .map(({ action, capability, account, outcome }) => [action, capability, account, outcome]);
  expect(told).toEqual([
    ["auth-begin", "door.mail", undefined, "ok"],
    ["auth-begin", "door.safe", undefined, "ok"],
    ["auth-complete", "", undefined, "capability_auth_flow_invalid"],
    ["auth-complete", "door.mail", "account-1", "started"],
    ["auth-complete", "door.mail", "account-1", "ok"],
    ["auth-poll", "door.safe", undefined, "pending"],
    ["unlink", "door.mail", "account-1", "started"],
    ["unlink", "door.mail", "account-1", "ok"],
  ]);
  for (const entry of world.audit()) {
    expect(entry).toMatchObject({ user: "alice", runId: "run-1", skill: "mail", chatId: "7" });
    expect(entry.requestId).toMatch(/^cap_[0-9a-f]{16}$/);
  }
  expect(JSON.stringify(world.audit())).not.toContain("secret-code");
});

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ALICE } from "../../../../test/support/capability-broker.ts";
import { COMPILED_CODE } from "../../../../test/support/compiled-code.ts";
import { ROOT } from "../../../../test/support/repository.ts";
import {
  answered,
  begin,
  faultOf,
  linkedAccounts,
  openSignInWorld,
} from "../../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const PROGRAM = join(ROOT, "test/support/complete-sign-in.ts");
const ENV = { ...COMPILED_CODE, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" };

verifies(
  "case 132",
  "of processes that complete one sign-in at the same time, exactly one does",
  async () => {
    const home = temporaryFolder();
    const world = openSignInWorld({ home });
    const { flowId } = await begin(world, ALICE);
    const args = [PROGRAM, home, flowId, String(world.clock.now)];
    const run = promisify(execFile);
    const ended = await Promise.all(
      [1, 2, 3].map(async () => (await run(process.execPath, args, { env: ENV })).stdout),
    );
    expect(ended.toSorted()).toEqual(["capability_auth_flow_invalid", "capability_auth_flow_invalid", "ok"]);
    expect(readFileSync(join(home, "asked"), "utf8")).toBe("asked\n");
    expect(await linkedAccounts(world, ALICE)).toEqual(["account-1"]);
  },
);

test("a process that dies while it completes a sign-in leaves it to the next one", async () => {
  const home = temporaryFolder();
  const world = openSignInWorld({ home });
  const { flowId } = await begin(world, ALICE);
  const child = spawn(process.execPath, [PROGRAM, home, flowId, String(world.clock.now), "hang"], {
    env: ENV,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    const taken = faultOf(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    expect(taken).toMatchObject({ code: "capability_auth_flow_invalid" });
    expect(taken.message).toContain("Another call is completing");
    expect((await world.auth.list(ALICE)).length).toBe(1);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  expect(answered(await world.auth.complete(ALICE, { flowId, code: "abc" })).flowId).toBe(flowId);
});

/** Without a sandbox, commands start and end by the same contract. */
import { existsSync } from "node:fs";
import { describe } from "vitest";
import { commandConformance } from "../../../../test/support/sandbox-conformance.ts";
import { chooseSandbox } from "../../src/sandbox/choose-sandbox.ts";

describe.skipIf(!existsSync("/proc/self/task"))("unsandboxed commands", () =>
  commandConformance(async () => {
    const { sandbox } = await chooseSandbox({ backend: "none", trust: "trusted" });
    if (!sandbox) throw new Error("Commands of a trusted skill may run unsandboxed when the config says so.");
    return sandbox;
  }),
);

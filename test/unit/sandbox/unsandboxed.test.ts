/** Without a sandbox, commands start and end by the same contract. */
import { existsSync } from "node:fs";
import { describe } from "vitest";
import { createUnsandboxed } from "../../../src/sandbox/unsandboxed.ts";
import { commandConformance } from "../../support/sandbox-conformance.ts";

describe.skipIf(!existsSync("/proc/self/task"))("unsandboxed commands", () =>
  commandConformance(async () => createUnsandboxed()),
);

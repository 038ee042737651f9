/**
 * Tests that need a sandbox. Where there is none they are skipped, and `npm test` names the command that brings one;
 * with `METIER_REQUIRE_SANDBOX=1`, as in CI, they fail instead.
 */
import { describe, test } from "vitest";
import { sandboxStatus } from "../../scripts/setup/sandbox.mjs";

const status = sandboxStatus();
const required = process.env.METIER_REQUIRE_SANDBOX === "1";

/** A group of tests that need a sandbox. */
export function describeSandbox(title: string, define: () => void): void {
  if (!status.available && required) sandboxTest(title, () => undefined);
  else describe.skipIf(!status.available)(title, define);
}

/** One test that needs a sandbox. */
export function sandboxTest(title: string, run: () => void | Promise<void>): void {
  if (!status.available && required) {
    test(title, () => {
      throw new Error(`A sandbox is required but ${status.description}. ${status.command ?? ""}`.trim());
    });
  } else test.skipIf(!status.available)(title, run);
}

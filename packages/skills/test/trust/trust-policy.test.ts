import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { lowerTrust, TRUST_POLICY, type TrustedThing, trustAllows } from "../../src/trust/trust-policy.ts";

const things = Object.keys(TRUST_POLICY) as TrustedThing[];

describe("the table of trust", () => {
  verifies(
    179,
    "an untrusted skill may be activated, run isolated and narrow its tools, and nothing else",
    () => {
      expect(things.filter((thing) => trustAllows("untrusted", thing))).toEqual([
        "activate-inline",
        "run-isolated",
        "restrict-tools",
      ]);
    },
  );

  verifies(179, "an untrusted skill gets no pre-approved tools, no fork by its own word and no hooks", () => {
    expect(trustAllows("untrusted", "pre-approve-tools")).toBe(false);
    expect(trustAllows("untrusted", "fork-by-own-word")).toBe(false);
    expect(trustAllows("untrusted", "register-hooks")).toBe(false);
  });

  test("a trusted skill may do everything in it", () => {
    expect(things.filter((thing) => !trustAllows("trusted", thing))).toEqual([]);
  });

  test("each row says why in one line", () => {
    for (const thing of things) expect(TRUST_POLICY[thing].reason).toMatch(/^[^\n]{20,120}\.$/);
  });
});

test("chaining never raises: the lower level wins in either order", () => {
  expect(lowerTrust("trusted", "trusted")).toBe("trusted");
  expect(lowerTrust("trusted", "untrusted")).toBe("untrusted");
  expect(lowerTrust("untrusted", "trusted")).toBe("untrusted");
  expect(lowerTrust("untrusted", "untrusted")).toBe("untrusted");
});

/**
 * The attempts to get out of the sandbox once more as an ordinary user, where root runs the tests; and that they are real:
 * without a sandbox, wherever that does no harm, they succeed.
 */
import { describe, expect, test } from "vitest";
import { attempts } from "../security/escapes/attempts.ts";
import { canShow } from "../security/escapes/controls.ts";
import { startAsNobody, startSuite } from "../security/escapes/start-suite.ts";
import { describeAttempts, ESCAPE_PATIENCE_MS, hasPython } from "../support/escape-attempts.ts";
import { canBecomeNobody } from "../support/nobody.ts";
import { describeSandbox } from "../support/sandbox.ts";

describeSandbox("a program in bubblewrap", () => {
  describe.skipIf(!hasPython)("(its attempts are made with /usr/bin/python3)", () => {
    describe.skipIf(!canBecomeNobody())("(root can start it as someone else)", () => {
      describeAttempts("that an ordinary user has started", () => startAsNobody({ backend: "bubblewrap" }));
      describeAttempts("that an ordinary user has started in a sandbox that was made ahead", () =>
        startAsNobody({ backend: "bubblewrap", ahead: true }),
      );
    });

    test(
      "would succeed without a sandbox, wherever that does no harm",
      async () => {
        const { trials } = await startSuite({ backend: "none" });
        expect(trials.filter(({ verdict }) => verdict !== "escaped")).toEqual([]);
        expect(trials).toHaveLength(attempts.filter(canShow).length);
      },
      ESCAPE_PATIENCE_MS,
    );
  });
});

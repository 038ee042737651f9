/**
 * Every attempt to get out of the sandbox is contained for whoever runs the tests, and the host is unharmed. The same as
 * another user, and that the attempts are real, is shown in `test/exhaustive`.
 */
import { describe, expect, test } from "vitest";
import { describeAttempts, hasPython } from "../support/escape-attempts.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { attempts } from "./escapes/attempts.ts";
import { startSuite } from "./escapes/start-suite.ts";

test("there are at least eighty attempts, each with a name of its own", () => {
  const names = new Set(attempts.map(({ id }) => id));
  expect(names.size).toBe(attempts.length);
  expect(names.size).toBeGreaterThanOrEqual(80);
});

describeSandbox("a program in bubblewrap", () => {
  describe.skipIf(!hasPython)("(its attempts are made with /usr/bin/python3)", () => {
    const isRoot = process.getuid?.() === 0;
    const who = isRoot ? "root" : "an ordinary user";
    describeAttempts(`that ${who} has started`, () => startSuite({ backend: "bubblewrap" }));
    describeAttempts(`that ${who} has started in a sandbox that was made ahead`, () =>
      startSuite({ backend: "bubblewrap", ahead: true }),
    );
  });
});

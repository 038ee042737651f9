/** The one process runner: what becomes of output that is passed on. */
import { expect, test } from "vitest";
import { runProcess } from "../../src/sandbox/process/run-process.ts";

const LIMITS = { timeoutMs: 30_000, maxOutputBytes: 10 };
const PRINTS = `process.stdout.write("x".repeat(5000)); process.stderr.write("y".repeat(50));`;

for (const passesOutput of [true, false]) {
  const what = passesOutput ? "is passed on is not kept and not dropped" : "is kept is bounded";
  test(`standard output that ${what}; standard error is bounded either way`, async () => {
    let passed = 0;
    const outcome = await runProcess({
      program: process.execPath,
      args: ["-e", PRINTS],
      env: {},
      limits: LIMITS,
      passesOutput,
      onOutput(stream, chunk) {
        if (stream === "stdout") passed += chunk.length;
      },
    });
    expect(passed).toBe(5000);
    expect(outcome.stdout).toBe(passesOutput ? "" : "x".repeat(10));
    expect(outcome.stderr).toBe("y".repeat(10));
    expect(outcome.droppedBytes).toBe(passesOutput ? 40 : 40 + 4990);
  });
}

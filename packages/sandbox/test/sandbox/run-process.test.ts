/** The one process runner: what becomes of output that is passed on, and processes that were started ahead. */
import { expect, test } from "vitest";
import { runProcess, startAhead } from "../../src/sandbox/process/run-process.ts";

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

test.skipIf(process.platform === "win32")(
  "one that was started ahead waits for what it is handed later",
  async () => {
    const how = { program: "/bin/sh", args: ["-c", "cat <&4; cat <&3"], env: {} };
    const ahead = await startAhead({ ...how, later: 1, handed: ["first, "], heldTo: undefined });
    expect(ahead?.isWaiting()).toBe(true);
    const limits = { ...LIMITS, maxOutputBytes: 100 };
    const outcome = await runProcess({ ...how, limits, ahead, handed: ["then this"] });
    expect(outcome).toMatchObject({ ended: "exited", exitCode: 0, stdout: "first, then this" });
  },
);

test.skipIf(process.platform === "win32")("one that is not used is ended", async () => {
  const how = { program: "/bin/sh", args: ["-c", "cat <&3"], env: {} };
  const ahead = await startAhead({ ...how, later: 1, handed: [], heldTo: undefined });
  ahead?.drop();
  while (ahead?.isWaiting()) await new Promise((resume) => setTimeout(resume, 5));
  expect(ahead?.isWaiting()).toBe(false);
});

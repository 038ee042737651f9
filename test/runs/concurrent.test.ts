/** Runs at the same time share nothing: messages, folders, variables, events. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptModel } from "@metier/run/model";
import { expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, readLog, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";

const COUNT = 20;
const numbers = Array.from({ length: COUNT }, (_, index) => index);

describeSandbox("twenty runs at once", () => {
  verifies("case 93", "each has its own messages, work folder and variables", async () => {
    const world = createRunWorld({ echo: ["env: [MARK]\ncontext: fork", "Follow the message."] });
    const metier = await world.metier();
    const outcomes = await Promise.all(
      numbers.map((number) =>
        metier.invoke({
          skill: "echo",
          message: `Task ${number}.`,
          env: { MARK: `mark-${number}` },
          approve: "all",
          model: createScriptModel([
            bash('printf "%s" "$MARK" > "$METIER_WORK_DIR/mark"; ls "$METIER_WORK_DIR"', {
              lastUserText: { equals: `Task ${number}.` },
            }),
            says(`Done ${number}.`, { toolResult: "mark" }),
          ]),
        }),
      ),
    );
    const results = outcomes.map((outcome) => {
      if (outcome.kind !== "run") throw new Error(`not run: ${JSON.stringify(outcome)}`);
      return outcome.result;
    });
    expect(results.map(({ text }) => text)).toEqual(numbers.map((number) => `Done ${number}.`));
    expect(new Set(results.map(({ runId }) => runId)).size).toBe(COUNT);
    const runs = join(world.home, ".metier", "state", "runs");
    for (const [number, { runId, files }] of results.entries()) {
      expect(readFileSync(join(runs, runId, "work", "mark"), "utf8")).toBe(`mark-${number}`);
      expect(files).toEqual([{ path: "mark", size: `mark-${number}`.length }]);
      const log = readLog(world, runId);
      expect(log.every((event) => event.runId === runId)).toBe(true);
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    }
  });
});

test("a run in the background has a handle: status, events, result", async () => {
  const world = createRunWorld({ echo: [] });
  const metier = await world.metier({ models: { default: createScriptModel([says("Done.")]) } });
  const handle = metier.start({ skill: "echo" });
  expect(handle.status).toBe("running");
  const types: string[] = [];
  for await (const { type } of handle.events()) types.push(type);
  expect(await handle.result).toMatchObject({ runId: handle.runId, status: "completed" });
  expect(handle.status).toBe("completed");
  expect([types[0], types.at(-1)]).toEqual(["run-started", "run-finished"]);
});

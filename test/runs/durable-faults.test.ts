/** A store that fails, as one on a full disk does: told, waited for, and the run goes on when it can. */
import type { JournalStore } from "@metier/durable";
import { expect, test } from "vitest";
import { openDurable, workAs } from "../support/durable-runs.ts";
import { createRunWorld, says } from "../support/scripted-runs.ts";

test("a run whose step cannot be recorded is told as a fault, and tried again later", async () => {
  const world = createRunWorld({ build: [] });
  // The model was asked each time before its answer could not be recorded.
  const durable = openDurable(world, [says("Done."), says("Done."), says("Done.")]);
  const { journal: sound } = durable.store;
  let failures = 0;
  const write: JournalStore["write"] = async (lease, batch) => {
    if (failures < 2 && (batch.entries ?? []).length > 0) {
      failures += 1;
      throw new Error("The disk is full.");
    }
    return sound.write(lease, batch);
  };
  const metier = await durable.open({ journal: { ...sound, write } });
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  const faults: string[] = [];
  const onFault = (fault: unknown): void => void faults.push(String(fault));
  const run = await workAs({ onFault }, metier, runId, "completed");
  expect(run.result).toMatchObject({ text: "Done." });
  expect(faults).toEqual(["Error: The disk is full.", "Error: The disk is full."]);
});

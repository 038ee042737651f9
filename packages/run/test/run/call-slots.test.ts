import { expect, test } from "vitest";
import { createCallSlots, MOST_CALLS_PER_STEP } from "../../src/run/live-run.ts";

test("a slot is given on when a call fails, in the order of asking", async () => {
  const slots = createCallSlots();
  const begun: number[] = [];
  const call = async (index: number): Promise<void> => {
    await slots.enter();
    try {
      begun.push(index);
      await new Promise((resume) => setImmediate(resume));
      if (index % 2 === 0) throw new Error("failed");
    } finally {
      slots.leave();
    }
  };
  const asked = Array.from({ length: 20 }, (_, index) => call(index));
  await Promise.resolve();
  expect(begun).toHaveLength(8);
  const settled = await Promise.allSettled(asked);
  expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(10);
  expect(begun).toEqual(begun.toSorted((a, b) => a - b));
});

test("each step has its own count of calls", () => {
  const slots = createCallSlots();
  const first = Array.from({ length: MOST_CALLS_PER_STEP + 2 }, () => slots.admit(1));
  expect(first.filter((admitted) => admitted)).toHaveLength(MOST_CALLS_PER_STEP);
  expect(first.slice(-2)).toEqual([false, false]);
  expect(slots.admit(2)).toBe(true);
});

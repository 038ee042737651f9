import { expect, test } from "vitest";
import { mapBounded } from "../src/turns.ts";

test("work goes on a few at a time, and answers keep their order", async () => {
  let [now, most] = [0, 0];
  const answers = await mapBounded([30, 10, 20, 5], 2, async (wait) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, wait));
    now -= 1;
    return wait;
  });
  expect([answers, most]).toEqual([[30, 10, 20, 5], 2]);
});

test("after a fault nothing new is begun, and what is under way ends first", async () => {
  const ended: number[] = [];
  const work = mapBounded([1, 20, 30, 40], 2, async (wait) => {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (wait === 1) throw new Error("broken");
    ended.push(wait);
  });
  await expect(work).rejects.toThrow("broken");
  expect(ended).toEqual([20]);
});

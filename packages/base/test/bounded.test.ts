/** What is kept for later does not grow without end. */
import { dropOldest } from "@metier/base/turns";
import { expect, test } from "vitest";

test("the oldest are dropped, and what was put in anew is not old", () => {
  const kept = new Map<string | undefined, number>([
    ["a", 1],
    [undefined, 2],
    ["c", 3],
  ]);
  dropOldest(kept, 3);
  expect([...kept.keys()]).toEqual(["a", undefined, "c"]);
  kept.delete("a");
  kept.set("a", 4);
  dropOldest(kept, 2);
  expect([...kept]).toEqual([
    ["c", 3],
    ["a", 4],
  ]);
  dropOldest(kept, 0);
  expect(kept.size).toBe(0);
});

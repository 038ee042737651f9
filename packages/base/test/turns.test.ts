import { expect, test } from "vitest";
import { createTurns } from "../src/turns.ts";

test("what works alone waits for what is under way, and what comes meanwhile waits for it", async () => {
  const turns = createTurns();
  const said: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    said.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    said.push(`${name} ends`);
  };
  await Promise.all([
    turns.beside(work("a")),
    turns.beside(work("b")),
    turns.alone(work("c")),
    turns.beside(work("d")),
  ]);
  expect(said).toEqual([
    "a begins",
    "b begins",
    "a ends",
    "b ends",
    "c begins",
    "c ends",
    "d begins",
    "d ends",
  ]);
});

test("a fault is heard by whose it is, and the next one works all the same", async () => {
  const turns = createTurns();
  const failed = turns.alone(async () => Promise.reject(new Error("broken")));
  const next = turns.alone(async () => "done");
  await expect(failed).rejects.toThrow("broken");
  expect(await next).toBe("done");
});

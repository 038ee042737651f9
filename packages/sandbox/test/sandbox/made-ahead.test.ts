/** Sandboxes that are made before their command is known: when they are, and when they are not used. */
import { expect, test } from "vitest";
import { keepAhead, sayStart } from "../../src/sandbox/bubblewrap/made-ahead.ts";
import type { StartedAhead } from "../../src/sandbox/process/run-process.ts";

const LIMITS = { timeoutMs: 1000, maxOutputBytes: 1000 };

interface Made extends StartedAhead {
  isOver: boolean;
  isDropped: boolean;
}

/** Keeps sandboxes that are made of nothing. */
function keep({ works = true }: { readonly works?: boolean } = {}) {
  const made: Made[] = [];
  const machine = { stamp: "as it is" };
  const kept = keepAhead({
    async make() {
      const one: Made = {
        isOver: false,
        isDropped: false,
        isWaiting: () => !one.isOver,
        take: () => {
          throw new Error("Nothing runs here.");
        },
        drop: () => {
          one.isDropped = true;
        },
      };
      made.push(one);
      return one;
    },
    stamp: ({ timeoutMs }) => `${machine.stamp} ${timeoutMs}`,
    works: async () => works,
  });
  const untilMade = async (count: number): Promise<void> => {
    while (made.length < count) await new Promise((resume) => setTimeout(resume, 5));
    await new Promise(setImmediate);
  };
  /** So many commands came; the first sandbox that is made is used up by trying it. */
  const start = async (): Promise<void> => {
    for (let command = 0; command < 3; command += 1) kept.makeNext(LIMITS);
    await untilMade(works ? 2 : 1);
  };
  return { kept, made, machine, start, untilMade };
}

test("the third command has one made for the next, which is used once", async () => {
  const { kept, made, start, untilMade } = keep();
  kept.makeNext(LIMITS);
  kept.makeNext(LIMITS);
  await new Promise((resume) => setTimeout(resume, 50));
  expect(made).toEqual([]);
  await start();
  expect(kept.take(LIMITS)).toBe(made[1]);
  expect(kept.take(LIMITS)).toBeUndefined();
  kept.makeNext(LIMITS);
  await untilMade(3);
  expect(kept.take(LIMITS)).toBe(made[2]);
});

test("one that is not what would be made now is dropped", async () => {
  for (const change of ["machine", "limits", "end"] as const) {
    const { kept, made, machine, start } = keep();
    await start();
    const [, waiting] = made;
    if (change === "machine") machine.stamp = "another";
    if (change === "end" && waiting) waiting.isOver = true;
    expect(kept.take(change === "limits" ? { ...LIMITS, timeoutMs: 2 } : LIMITS), change).toBeUndefined();
    expect(waiting?.isDropped, change).toBe(true);
  }
});

test("where bubblewrap does not run in itself, that is tried once and none is made", async () => {
  const { kept, made, start } = keep({ works: false });
  await start();
  kept.makeNext(LIMITS);
  await new Promise((resume) => setTimeout(resume, 50));
  expect(made).toHaveLength(1);
  expect(kept.take(LIMITS)).toBeUndefined();
});

test("words reach a shell as they are, after its limits; not if they are too long or read as options", () => {
  const said = sayStart(["echo", "it's", "$HOME\n`id`", ""], { ...LIMITS, maxFileBytes: 1024 });
  expect(said?.METIER_START).toMatch(/^ulimit -c 0 \|\| exit 125; .*ulimit -f 2 \|\| exit 125/);
  expect(said?.METIER_START).toContain("; exec 'echo' 'it'\\''s' '$HOME\n`id`' ''");
  expect(sayStart(["bash", "-c", "x".repeat(100_000)], LIMITS)).toBeUndefined();
  expect(sayStart(["-x"], LIMITS)).toBeUndefined();
});

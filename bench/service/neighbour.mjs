/**
 * A tenant with a long queue next to one with a single run: how soon that run starts after a slot is free. The engine
 * alone, on four slots, with steps that take no processor time.
 */
import { setTimeout as delay } from "node:timers/promises";
import { NEIGHBOUR_MS, NEIGHBOUR_QUEUED, NEIGHBOURS } from "./sizes.mjs";

const SLOTS = 4;
const AT_ONCE = 50;

/**
 * @param {import("@metier/durable").RunEngine} engine
 * @returns {Promise<{ readonly afterFree: number[], readonly before: number[] }>} milliseconds from a slot becoming free until
 *   the neighbor's run starts; and how many runs of the other tenant started in between
 */
export async function measureNeighbour(engine) {
  /** When slots became free. @type {number[]} */
  const freed = [];
  /** @type {{ readonly runId: string, readonly at: number }[]} */
  const starts = [];
  /** @type {((at: number) => void) | undefined} */
  let heard;
  const queued = Array.from({ length: NEIGHBOUR_QUEUED }, (_, number) => `long-${number}`);
  const add = async () => {
    for (let run = queued.pop(); run !== undefined; run = queued.pop())
      await engine.enqueue(run, { tenant: "long" });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, add));
  const worker = engine.work({
    slots: SLOTS,
    leaseMs: 60_000,
    onFault: (fault) => {
      throw fault;
    },
    async advance({ runId }) {
      const at = performance.now();
      starts.push({ runId, at });
      if (runId.startsWith("short-")) heard?.(at);
      await delay(NEIGHBOUR_MS);
      freed.push(performance.now());
      return { kind: "ended" };
    },
  });
  while (starts.length < SLOTS * 2) await delay(5);
  /** @type {number[]} */ const afterFree = [];
  /** @type {number[]} */ const before = [];
  for (let number = 0; number < NEIGHBOURS; number++) {
    const started = new Promise((resolve) => {
      heard = resolve;
    });
    await engine.enqueue(`short-${number}`, { tenant: "short" });
    const asked = performance.now();
    const at = /** @type {number} */ (await started);
    // Slots that were already filled when the run arrived don't count.
    const free = freed.find((one) => one >= asked) ?? asked;
    afterFree.push(Math.max(0, at - free));
    before.push(starts.filter((start) => start.at > free && start.at < at).length);
    await delay(NEIGHBOUR_MS * Math.random());
  }
  await worker.stop(NEIGHBOUR_MS * 2);
  return { afterFree, before };
}

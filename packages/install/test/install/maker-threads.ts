/** What makes trees here: this thread, one of Node, and a native one where it was built. */
import { onTestFinished } from "vitest";
import { startNativeMaker } from "../../src/install/native-maker.ts";
import { openTreeMaker, startNodeMaker, type TreeMaker } from "../../src/install/tree-maker.ts";

export const MANY = 1000;
const first = startNativeMaker({ made: () => undefined, stopped: () => undefined });
await first?.end();

if (!first && process.env.METIER_REQUIRE_NATIVE === "1")
  throw new Error("The native thread is required but was not built: run `npm run build` with a C compiler.");

/** Where the build found a C compiler. */
export const NATIVE = first ? [{ kind: "on a native thread", entries: MANY, start: startNativeMaker }] : [];
export const THREADS = [{ kind: "on a thread of Node", entries: MANY, start: startNodeMaker }, ...NATIVE];
/** Few entries are made by this thread, many by another. */
export const KINDS = [{ kind: "here", entries: 1, start: startNodeMaker }, ...THREADS];

export function openMaker(entries: number, start: typeof startNodeMaker): TreeMaker {
  const maker = openTreeMaker(entries, [start]);
  onTestFinished(() => maker.close());
  return maker;
}

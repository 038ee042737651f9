/** Finding against plain BM25 over descriptions, on real requests. Skipped where those are not. */
import { buildFinder } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { plainBm25 } from "../../bench/find/plain-bm25.mjs";
import { measureQuality, ROUTING_SET_IS_HERE, readRoutingSet } from "../../bench/find/routing-set.mjs";

const title = ROUTING_SET_IS_HERE
  ? "over the development set"
  : "over the development set: skipped, since `../shared/corpus/routing` is not here";

/** How much better the finder must be, of 1. */
const MARGIN = 0.1;

describe.skipIf(!ROUTING_SET_IS_HERE)(title, () => {
  test("find ranks clearly better than BM25 over descriptions", () => {
    const { skills, requests } = readRoutingSet();
    const asked = new Set(requests.flatMap(({ relevant }) => relevant));
    const pool = skills.filter(({ id }, index) => index % 2 === 0 || asked.has(id));
    const finder = buildFinder(pool);
    const plain = plainBm25(pool.map(({ location, description }) => ({ location, text: description })));
    const ours = measureQuality(requests, (query, k) =>
      finder.find(query, k).map(({ location }) => location),
    );
    const theirs = measureQuality(requests, plain);
    expect(ours.all?.requests).toBeGreaterThan(400);
    for (const measure of ["recall1", "recall5", "mrr10", "ndcg10"] as const) {
      expect(ours.all?.[measure], measure).toBeGreaterThan((theirs.all?.[measure] ?? 1) + MARGIN);
    }
  });
});

/** The development set: real requests and the skills that answer them. Kept outside the repository, on few machines. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../scripts/setup/repository.mjs";

/**
 * @typedef {import("./documents.mjs").BenchDocument & { readonly id: string }} RoutingSkill
 * @typedef {{ readonly text: string, readonly relevant: readonly string[], readonly repo: string }} Request
 * @typedef {{ requests: number, recall1: number, recall5: number, mrr10: number, ndcg10: number }} Quality
 */

const FOLDER = join(ROOT, "../shared/corpus/routing");
const POOL = join(FOLDER, "pool.jsonl.gz");

export const ROUTING_SET_IS_HERE = existsSync(POOL);

/** @returns {{ skills: RoutingSkill[], requests: Request[] }} */
export function readRoutingSet() {
  const skills = readLines(gunzipSync(readFileSync(POOL)).toString("utf8")).map((line) => {
    const { id, name, description, body } = JSON.parse(line);
    return { id, name, description, body, location: id };
  });
  const requests = readLines(readFileSync(join(FOLDER, "queries.jsonl"), "utf8")).map((line) =>
    JSON.parse(line),
  );
  return { skills, requests };
}

/**
 * @param {readonly Request[]} requests
 * @param {(query: string, k: number) => readonly string[]} find returns locations, best first
 * @returns {Record<string, Quality>} by repository, and under `all`
 */
export function measureQuality(requests, find) {
  /** @type {Record<string, Quality>} */
  const sums = {};
  for (const { text, relevant, repo } of requests) {
    const hits = find(text, 10);
    for (const group of ["all", repo]) addRequest(qualityIn(sums, group), hits, relevant);
  }
  for (const quality of Object.values(sums)) {
    quality.recall1 /= quality.requests;
    quality.recall5 /= quality.requests;
    quality.mrr10 /= quality.requests;
    quality.ndcg10 /= quality.requests;
  }
  return sums;
}

/** @param {Record<string, Quality>} sums @param {string} group */
function qualityIn(sums, group) {
  sums[group] ??= { requests: 0, recall1: 0, recall5: 0, mrr10: 0, ndcg10: 0 };
  return sums[group];
}

/** @param {Quality} quality @param {readonly string[]} hits @param {readonly string[]} relevant */
function addRequest(quality, hits, relevant) {
  const ranks = relevant.map((id) => hits.indexOf(id) + 1).filter((rank) => rank > 0);
  const gain = (/** @type {number} */ rank) => 1 / Math.log2(rank + 1);
  const ideal = relevant.slice(0, 10).reduce((sum, _, index) => sum + gain(index + 1), 0);
  quality.requests += 1;
  quality.recall1 += ranks.filter((rank) => rank === 1).length / relevant.length;
  quality.recall5 += ranks.filter((rank) => rank <= 5).length / relevant.length;
  quality.mrr10 += ranks.length > 0 ? 1 / Math.min(...ranks) : 0;
  quality.ndcg10 += ranks.reduce((sum, rank) => sum + gain(rank), 0) / ideal;
}

/** @param {string} text */
function readLines(text) {
  return text.split("\n").filter((line) => line !== "");
}

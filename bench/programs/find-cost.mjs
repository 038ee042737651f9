/** One finder over generated skills: what indexing and a query cost, and the most memory held, as JSON. */
import { generateDocuments, generateQueries } from "../find/documents.mjs";
import { loadFinder } from "../find/finders.mjs";

const [name = "", count = "0", words = "0", limit = "0"] = process.argv.slice(2);
const QUERIES = generateQueries(20);

const build = await loadFinder(name);
const documents = generateDocuments(Number(count), Number(words));
const before = process.memoryUsage().rss;
const start = performance.now();
const search = await build(documents);
const index = performance.now() - start;
const end = performance.now() + Number(limit);
/** @type {number[]} */
const times = [];
for (let round = 0; round < 5 && (round < 1 || performance.now() < end); round++) {
  for (const query of QUERIES) {
    const begin = performance.now();
    await search(query, 10);
    times.push(performance.now() - begin);
  }
}
times.sort((a, b) => a - b);
const memory = (process.memoryUsage().rss - before) / 1e6;
process.stdout.write(JSON.stringify({ index, query: times[Math.floor(times.length / 2)], memory }));

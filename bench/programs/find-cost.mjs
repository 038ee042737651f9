/** One finder over generated skills: the cost of indexing and of a query, and the peak memory, as JSON. */
import { generateDocuments, generateQueries, withoutStopWords } from "../find/documents.mjs";
import { loadFinder, PLAIN } from "../find/finders.mjs";
import { quantile } from "../measured.mjs";

const [name = "", count = "0", limit = "0"] = process.argv.slice(2);
/** The first doesn't count, unless there is no time for another. */
const ROUNDS = 6;

// A plain BM25 knows no stop words. It gets texts and requests without them, and isn't charged for that.
const isPlain = name === PLAIN;
const queries = generateQueries(100, Number(count)).map((query) =>
  isPlain ? withoutStopWords(query) : query,
);
const build = await loadFinder(name);
const documents = generateDocuments(Number(count), isPlain ? withoutStopWords : undefined);
const before = process.memoryUsage().rss;
const start = performance.now();
const search = await build(documents);
const index = performance.now() - start;
const end = performance.now() + Number(limit);
/** @type {number[]} */
const times = [];
for (let round = 0; round < ROUNDS && (round < 1 || performance.now() < end); round++) {
  if (round === 1) times.length = 0;
  for (const query of queries) {
    const begin = performance.now();
    await search(query, 10);
    times.push(performance.now() - begin);
  }
}
const memory = (process.memoryUsage().rss - before) / 1e6;
const [p50, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
process.stdout.write(JSON.stringify({ index, p50, p95, memory }));

/** One finder over the development set: how well it ranks, as JSON. */
import { loadFinder } from "../find/finders.mjs";
import { measureQuality, readRoutingSet } from "../find/routing-set.mjs";

const build = await loadFinder(process.argv[2] ?? "");
const { skills, requests } = readRoutingSet();
const search = await build(skills);
/** @type {Map<string, readonly string[]>} */
const hits = new Map();
for (const { text } of requests) hits.set(text, await search(text, 10));
process.stdout.write(JSON.stringify(measureQuality(requests, (query) => hits.get(query) ?? [])));

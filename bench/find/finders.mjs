/** Everyone who searches the same skills, each as it comes out of the box, behind one function. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildFinder } from "../../src/find/build-finder.ts";
import { installVersions } from "../peers.mjs";
import { plainBm25 } from "./plain-bm25.mjs";

/**
 * @typedef {import("./documents.mjs").BenchDocument} BenchDocument
 * @typedef {readonly string[] | Promise<readonly string[]>} Locations best first
 * @typedef {(query: string, k: number) => Locations} Search
 * @typedef {(documents: readonly BenchDocument[]) => Search | Promise<Search>} BuildIndex
 */

const VERSIONS = { minisearch: "7.2.0", "@orama/orama": "3.1.18" };
const MINISEARCH = "minisearch/dist/es/index.js";
const ORAMA = "@orama/orama/dist/esm/index.js";

export const METIER = "metier";
export const SCAN = "plain scan";
export const DESCRIPTIONS = "BM25 over descriptions";
export const PEERS = [`MiniSearch ${VERSIONS.minisearch}`, `Orama ${VERSIONS["@orama/orama"]}`];

/** @param {string} name @returns {Promise<BuildIndex>} */
export async function loadFinder(name) {
  if (name === METIER) return buildMetier;
  if (name === SCAN) return buildScan;
  if (name === DESCRIPTIONS) return buildDescriptions;
  return name === PEERS[0] ? loadMiniSearch() : loadOrama();
}

/** Before anything is measured. */
export function installFinders() {
  return installVersions(VERSIONS, [MINISEARCH, ORAMA]);
}

/** @type {BuildIndex} */
function buildMetier(documents) {
  const finder = buildFinder(documents);
  return (query, k) => finder.find(query, k).map(({ location }) => location);
}

/** How many of the words a text has anywhere. @type {BuildIndex} */
function buildScan(documents) {
  const texts = documents.map(({ name, description, body }) =>
    `${name}\n${description}\n${body}`.toLowerCase(),
  );
  return (query, k) => {
    const words = query.toLowerCase().split(/\W+/);
    const counts = texts.map((text) => words.filter((word) => text.includes(word)).length);
    const order = [...counts.keys()].sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0) || a - b);
    return order.slice(0, k).map((index) => documents[index]?.location ?? "");
  };
}

/** @type {BuildIndex} */
function buildDescriptions(documents) {
  return plainBm25(documents.map(({ location, description }) => ({ location, text: description })));
}

/** @returns {Promise<BuildIndex>} */
async function loadMiniSearch() {
  const { default: MiniSearch } = await importPeer(MINISEARCH);
  return (documents) => {
    const index = new MiniSearch({ idField: "location", fields: ["name", "description", "body"] });
    index.addAll(documents);
    return (query, k) =>
      index
        .search(query)
        .slice(0, k)
        .map((/** @type {{ id: string }} */ hit) => hit.id);
  };
}

/** @returns {Promise<BuildIndex>} */
async function loadOrama() {
  const { create, insertMultiple, search } = await importPeer(ORAMA);
  return async (documents) => {
    const index = create({ schema: { name: "string", description: "string", body: "string" } });
    await insertMultiple(index, documents);
    return async (query, k) => {
      const { hits } = await search(index, { term: query, limit: k });
      return hits.map((/** @type {{ document: BenchDocument }} */ hit) => hit.document.location);
    };
  };
}

/** Not installed in the repository, so there are no types. @param {string} file @returns {Promise<any>} */
function importPeer(file) {
  return import(pathToFileURL(join(installFinders(), file)).href);
}

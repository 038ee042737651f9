/**
 * All search libraries behind one function: as they come, and again tuned for requests in sentences, with our stop
 * words and reasonable starting weights.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildFinder, STOP_WORDS } from "@metier/skills";
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
export const PLAIN = "plain BM25";
const [MINISEARCH_NAME, ORAMA_NAME] = [
  `MiniSearch ${VERSIONS.minisearch}`,
  `Orama ${VERSIONS["@orama/orama"]}`,
];
const SET_UP = ", set up";
const BOOST = { name: 5, description: 3 };

export const PEERS = [MINISEARCH_NAME, ORAMA_NAME];
export const PEERS_SET_UP = PEERS.map((name) => name + SET_UP);

/** @param {string} name @returns {Promise<BuildIndex>} */
export async function loadFinder(name) {
  if (name === METIER) return buildMetier;
  if (name === SCAN) return buildScan;
  if (name === DESCRIPTIONS) return buildDescriptions;
  if (name === PLAIN) return buildPlain;
  const isSetUp = name.endsWith(SET_UP);
  return name.startsWith(MINISEARCH_NAME) ? loadMiniSearch(isSetUp) : loadOrama(isSetUp);
}

/** Called before anything is measured. */
export function installFinders() {
  return installVersions(VERSIONS, [MINISEARCH, ORAMA]);
}

/** @type {BuildIndex} */
function buildMetier(documents) {
  const finder = buildFinder(documents);
  return (query, k) => finder.find(query, k).map(({ location }) => location);
}

/** Ranks by how many of the words a text contains. @type {BuildIndex} */
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

/** Over the same text as all others. @type {BuildIndex} */
function buildPlain(documents) {
  return plainBm25(
    documents.map(({ location, name, description, body }) => ({
      location,
      text: `${name}\n${description}\n${body}`,
    })),
  );
}

/** @param {boolean} isSetUp @returns {Promise<BuildIndex>} */
async function loadMiniSearch(isSetUp) {
  const { default: MiniSearch } = await importPeer(MINISEARCH);
  const options = isSetUp && {
    processTerm: (/** @type {string} */ term) => {
      const word = term.toLowerCase();
      return STOP_WORDS.has(word) ? null : word;
    },
    searchOptions: { boost: BOOST },
  };
  return (documents) => {
    const index = new MiniSearch({
      idField: "location",
      fields: ["name", "description", "body"],
      ...options,
    });
    index.addAll(documents);
    return (query, k) =>
      index
        .search(query)
        .slice(0, k)
        .map((/** @type {{ id: string }} */ hit) => hit.id);
  };
}

/** @param {boolean} isSetUp @returns {Promise<BuildIndex>} */
async function loadOrama(isSetUp) {
  const { create, insertMultiple, search } = await importPeer(ORAMA);
  const components = isSetUp ? { tokenizer: { stopWords: [...STOP_WORDS] } } : {};
  const options = isSetUp ? { boost: BOOST } : {};
  return async (documents) => {
    const schema = { name: "string", description: "string", body: "string" };
    const index = create({ schema, components });
    await insertMultiple(index, documents);
    return async (query, k) => {
      const { hits } = await search(index, { term: query, limit: k, ...options });
      return hits.map((/** @type {{ document: BenchDocument }} */ hit) => hit.document.location);
    };
  };
}

/** Not installed in the repository, so there are no types. @param {string} file @returns {Promise<any>} */
function importPeer(file) {
  return import(pathToFileURL(join(installFinders(), file)).href);
}

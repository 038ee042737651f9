/** What every wire format of the fake provider implements, and how formats read unchecked bodies. */

/**
 * @typedef {object} WireFormat
 * @property {RegExp} path
 * @property {(body: Json) => import("./directives.mjs").Turn} readTurn
 * @property {(answer: import("./directives.mjs").Answer, body: Json) => string} writeAnswer server-sent events
 */

/** @typedef {Readonly<Record<string, unknown>>} Json an object of a request's body */

/** The objects of a list; empty if it isn't a list. @param {unknown} value @returns {readonly Json[]} */
export function objectsOf(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

/**
 * The texts of a message, which is one text or a list of parts, some of them with text.
 *
 * @param {unknown} content
 * @returns {readonly string[]}
 */
export function textsOf(content) {
  if (typeof content === "string") return [content];
  return objectsOf(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}

/** @param {unknown} tools */
export function isFilledList(tools) {
  return Array.isArray(tools) && tools.length > 0;
}

/** Server-sent events as the model providers write them. */

/** @param {readonly object[]} chunks */
export function dataEvents(chunks) {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
}

/** @typedef {{ type: string, [field: string]: unknown }} NamedEvent */

/** Events whose name is also their `type`. @param {readonly NamedEvent[]} chunks */
export function namedEvents(chunks) {
  return chunks.map((chunk) => `event: ${chunk.type}\n${dataEvents([chunk])}`).join("");
}

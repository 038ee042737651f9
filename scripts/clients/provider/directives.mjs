/**
 * What the fake model does: the user's prompt tells it. It makes one call for every `%%CALL <tool> <JSON>%%` of the prompt, one
 * a turn, and then says so; it remembers nothing, since each request carries the whole conversation.
 */

/** @typedef {{ readonly tool: string, readonly input: Record<string, unknown> }} Call */
/** @typedef {{ readonly call: Call } | { readonly text: string }} Answer */

/**
 * What a request says, whatever its wire format.
 *
 * @typedef {object} Turn
 * @property {boolean} offersTools requests for a title or a summary carry the prompt too, but no tools
 * @property {readonly string[]} prompts what the user wrote
 * @property {number} results how many results of tools there are so far
 */

const DIRECTIVE = /%%CALL (\S{1,200}) (\{.{0,2000}?\})%%/gs;

/** @param {Turn} turn @returns {Answer} */
export function chooseAnswer({ offersTools, prompts, results }) {
  const calls = offersTools ? readDirectives(prompts.join("\n")) : [];
  const call = calls[results];
  return call ? { call } : { text: "Done." };
}

/** @param {string} text @returns {readonly Call[]} */
function readDirectives(text) {
  return [...text.matchAll(DIRECTIVE)].map(([, tool = "", json = ""]) => ({ tool, input: JSON.parse(json) }));
}

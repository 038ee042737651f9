/**
 * What the fake model does: it follows the user's prompt. It makes one call per turn for every `%%CALL <tool>
 * <JSON>%%` in the prompt, and then says so. It remembers nothing, since each request carries the whole conversation.
 */

/** @typedef {{ readonly tool: string, readonly input: Record<string, unknown> }} Call */
/** @typedef {{ readonly call: Call } | { readonly text: string }} Answer */

/**
 * What a request says, whatever its wire format.
 *
 * @typedef {object} Turn
 * @property {boolean} offersTools requests for a title or a summary carry the prompt too, but no tools
 * @property {readonly string[]} prompts what the user wrote
 * @property {number} results how many tool results there are so far
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

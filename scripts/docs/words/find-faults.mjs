/** Finds what is wrong with the words of a text: phrases, long sentences, and terms that the glossary doesn't have. */
import { CLAUSE_FIRST, MAX_WORDS, PHRASES } from "./phrases.mjs";

/** @typedef {import("./sentences.mjs").Sentence} Sentence */
/** @typedef {{ line: number, found: string, instead: string }} Fault */
/** @typedef {{ terms: ReadonlySet<string>, avoided: ReadonlyMap<string, string> }} Glossary */

/** @param {readonly Sentence[]} sentences @param {Glossary} glossary @returns {readonly Fault[]} */
export function findFaults(sentences, glossary) {
  return sentences.flatMap(({ text, line, isCaption }) =>
    [
      ...phrasesIn(text),
      ...(isCaption ? [] : clauseIn(text)),
      ...lengthOf(text),
      ...termsIn(text, glossary),
      ...avoidedIn(text, glossary),
    ].map((fault) => ({ line, ...fault })),
  );
}

/**
 * An entry is `- **term** or **other** — meaning`; `*Avoid: word, word*` names words that texts must not use for it.
 *
 * @param {string} text of GLOSSARY.md
 * @returns {Glossary}
 */
export function readGlossary(text) {
  const entries = [...text.matchAll(/^- (\*\*.+?) — (.*(?:\n {2}.*)*)/gm)];
  const terms = new Set();
  const avoided = new Map();
  for (const [, head = "", meaning = ""] of entries) {
    const names = [...head.matchAll(/\*\*(.+?)\*\*/g)].flatMap(([, name = ""]) => name.split(/ \/ |, /));
    for (const [, name = ""] of meaning.matchAll(/(?<!\*)\*([^*:]+)\*(?!\*)/g)) names.push(name);
    for (const name of names) terms.add(singular(name));
    const words = /\*Avoid: ([^*]+)\*/.exec(meaning)?.[1] ?? "";
    for (const word of words.split(/, /).filter(Boolean))
      avoided.set(word.replace(/\.$/, ""), names[0] ?? "");
  }
  return { terms, avoided };
}

/** @param {string} text */
function phrasesIn(text) {
  return PHRASES.flatMap(({ pattern, instead }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [{ found, instead: `write ${instead}` }];
  });
}

/** @param {string} text */
function clauseIn(text) {
  if (!CLAUSE_FIRST.pattern.test(text)) return [];
  return [{ found: shorten(text), instead: `start with ${CLAUSE_FIRST.instead}` }];
}

/** @param {string} text */
function lengthOf(text) {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length;
  if (words <= MAX_WORDS) return [];
  return [{ found: `${words} words: ${shorten(text)}`, instead: `split it: at most ${MAX_WORDS} words` }];
}

/** Italics introduce a term, and only that. @param {string} text @param {Glossary} glossary */
function termsIn(text, { terms }) {
  return [...text.matchAll(/(?<![*\w])\*([A-Za-z][\w -]*)\*(?![*\w])/g)].flatMap(([, term = ""]) =>
    terms.has(singular(term)) || term.split(" ").length > 3
      ? []
      : [{ found: `*${term}*`, instead: "add the term to GLOSSARY.md, or leave out the italics" }],
  );
}

/** @param {string} text @param {Glossary} glossary */
function avoidedIn(text, { avoided }) {
  if (/\*Avoid: /.test(text)) return [];
  return [...avoided].flatMap(([word, term]) =>
    new RegExp(`(?<![\\w-])${word}s?(?![\\w-])`, "i").test(text)
      ? [{ found: word, instead: `write “${term}”, the word of GLOSSARY.md` }]
      : [],
  );
}

/** @param {string} term */
function singular(term) {
  return term
    .trim()
    .toLowerCase()
    .replace(/(?<!s)s$/, "");
}

/** @param {string} text */
function shorten(text) {
  return text.length > 70 ? `${text.slice(0, 69)}…` : text;
}

/**
 * Phrases that our texts don't use, each with what to write instead. Most of them are correct words in an order that nobody
 * says aloud. A pattern is tried on one sentence at a time, without its code.
 */

/** @typedef {{ pattern: RegExp, instead: string }} Phrase */

/** @type {readonly Phrase[]} */
export const PHRASES = [
  // Word order and clauses that read as translated.
  phrase("(?<!instead )of (?:its|their|our|his) own", "“its own …” before the noun"),
  phrase("of (?:your|their) own choosing", "“… that you choose”"),
  phrase("from (?:which|when|there|then) on", "“after …”, “at or above …”, or “since …”"),
  phrase("(?:is|are|was|were) over(?! (?:a|an|the|its|their|\\d|`))", "“has ended”, or “timed out after …”"),
  phrase("(?<!auth )(?:begin|begins|began|begun)", "“start”"),
  phrase("what(?:ever)? (?:became|becomes|has become|comes|came) of", "“the result”, or “what happens to …”"),
  phrase("(?:must|should|may) come of (?:it|them)", "“the expected result”"),
  phrase(
    "there (?:is|are|was|were) (?:\\w+ ){1,4}(?:that|which|who)",
    "the subject and its verb, without “there is”",
  ),
  phrase("(?:is|are) there to be \\w+", "the verb in the imperative: “inspect with …”"),
  phrase("(?:is|are|was|were|be) looked (?:at|for|over|up)", "“Metier looks for …”, “checks …” or “reads …”"),
  phrase("(?:is|are) to be \\w+(?:ed|en|t)", "“must be …”, or the imperative"),
  phrase("the one who", "“the caller”, “the user”, or “the person who …”"),
  phrase("^whoever", "“anyone who …”, or name the person"),
  phrase("whatever", "“any …”, or name the thing"),
  phrase("nothing of (?:it|them|one|the|a|that|what)", "“none of …”"),
  phrase("an own", "“its own …”"),
  phrase(
    "(?:with|by|of|from|at|after|before) which (?:it|they|the|an?|this|that|you|we|one|only|is|are|each|no|nothing)",
    "two sentences, or “that … with”",
  ),
  phrase("in the shape that", "“as …”"),
  phrase("all (?:that|what) (?:is|are|was) (?!needed)", "“everything …”, or name the things"),
  phrase("so (?:many|much) as", "“as many as …”"),
  phrase("if need be", "“if necessary”"),
  phrase("for the (?:sake|purpose) of", "“to …”, or “for …”"),
  phrase("in the middle of", "“during …”"),
  phrase("(?:is|are) of use", "“helps …”"),
  phrase("by (?:its|their) own word", "name the option or field that asks for it"),
  phrase("said of", "“said about”"),
  phrase("asked of (?:it|a|one|the)", "“what you ask … to do”"),

  // Old or stiff words.
  phrase("anew", "“again”"),
  phrase("once more", "“again”"),
  phrase("ever after", "“after that”"),
  phrase("beforehand", "“first”, or “before …”"),
  phrase("meanwhile", "“while …”"),
  phrase(
    "(?:thereby|therein|thereof|whereby|wherein|whereof|hereby|hence|thus|hitherto)",
    "“so”, “this way”, or nothing",
  ),
  phrase("(?:whilst|amongst|upon)", "“while”, “among”, “on”"),
  phrase("(?:mend|mends|mended|mending)", "“fix”"),
  phrase("(?:goes|go|went|going) on(?! to \\w+ing)", "“continue”"),
  phrase("held to", "“must match …”, “must stay within …” or “limited to …”"),
  phrase("(?:lies|lie|lay) (?:in|at|beside|below|under|near|within)", "“is in …”"),
  phrase(
    "stands? (?:in|at|beside|behind|before|below|above|after|under|near|on)(?! for)",
    "“is in …”, “comes before …”",
  ),
  phrase("(?:answer|answers) is (?:no|yes)", "“is refused”, “fails”, “exits 1”"),
  phrase("in order to", "“to”"),
  phrase("(?:utilize|utilise)[sd]?", "“use”"),
  phrase("prior to", "“before”"),
  phrase("(?:please note|note) that", "the fact itself"),
  phrase("it should be noted", "the fact itself"),
  phrase("(?:simply|obviously|of course|basically)", "nothing: leave the word out"),
  phrase("as well as", "“and”"),
  phrase("due to the fact that", "“because”"),
  phrase("is able to", "“can”"),

  // American spelling.
  phrase("behaviou?r(?:s|al)?(?<=our|ours|oural)", "“behavior”"),
  phrase(
    "(?:colour|favour|honour|neighbour|flavour)(?:s|ed|ing|able|ite)?",
    "the American spelling, with “or”",
  ),
  phrase("licence[sd]?", "“license”"),
  phrase("(?:centre|metre|kilometre|fibre)s?", "the American spelling, with “er”"),
  phrase(
    "(?:\\w+(?:nis|lis|ris|mis))(?:e|es|ed|ing|ation)(?<=organis\\w+|recognis\\w+|normalis\\w+|serialis\\w+|summaris\\w+|minimis\\w+|initialis\\w+|authoris\\w+)",
    "the American spelling, with “z”",
  ),
  phrase("(?:analyse|catalogue|artefact|grey)[sd]?", "the American spelling"),
];

/** A statement that starts with a clause in place of its subject. Questions and short captions may start so. */
export const CLAUSE_FIRST = {
  pattern: /^(?:What|Whether|Who|Which|How|Where) (?!if\b)[^?]*\.$/,
  instead: "the thing itself as the subject: “`list` shows …”",
};

/** Longer sentences are read twice. */
export const MAX_WORDS = 35;

/** @param {string} words @param {string} instead @returns {Phrase} */
function phrase(words, instead) {
  return { pattern: new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, "i"), instead };
}

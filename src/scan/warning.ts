/** Whether a text speaks about what follows instead of asking for it: documents about attacks show what they warn of. */

/** Words that make an attack the topic. */
const TOPIC =
  /\b(?:dangerous|unsafe|malicious|insecure|vulnerab\w+|anti-?patterns?|forbidden|forbids?|blocked|blocks|blocking|den(?:y|ied|ies)|reject(?:s|ed)?|attack\w*|exploit\w*|payloads?|incorrect|prohibit\w*|suspicious|red flags?|detect\w*|scan(?:s|ned|ning|ner)? for|flag(?:s|ged)|refus\w+|prevent\w*|threats?|warn(?:s|ing)? (?:of|about)|not allowed|disallow\w*|jailbreak\w*|prompt injection|injections?|adversar\w+|pentest\w*|penetration test\w*|red[- ]team\w*|ctf|bad example|wrong)\b/i;

/** What one is told not to do; “do not skip this” is no such thing. */
const NOT_TO =
  /\b(?:never|do not|don['’]?t|must not|should not|avoid|instead of|rather than)\s+(?:ever\s+)?(?:[\w-]+\s+){0,3}?(?:run(?:ning)?|us(?:e|ing)|execut(?:e|ing)|do(?:ing)?|writ(?:e|ing)|past(?:e|ing)|pip(?:e|ing)|install(?:ing)?|commit(?:ting)?|put(?:ting)?|hardcod(?:e|ing)|read(?:ing)?|print(?:ing)?|cat|source|delet(?:e|ing)|force|:|$)|^\s*#*\s*\**(?:bad|wrong|avoid|never|don['’]?t)\b|❌|🚫|⛔|✗|✘/im;

export function isWarning(text: string): boolean {
  return TOPIC.test(text) || NOT_TO.test(text);
}

/** Of the text before a phrase: the phrase is what someone else might say, or what is not to be done. */
const MENTION =
  /\b(?:if|when(?:ever)?|should|even if)\b[^.]{0,100}\b(?:says?|asks?|tells?|contains?|claims?|instructs?|attempts?|tries|requests?|appears?|includes?)\b|\b(?:texts?|content|files?|pages?|documents?|messages?|prompts?|skills?|instructions?|anything|something|results?)\s+(?:that|which|who)\s+(?:tells?|asks?|says?|instructs?|wants?|tries)\b|\b(?:never|do not|don['’]?t|must not|cannot|won['’]?t|refuse to|attempts? to|attempting to|trying to|asking (?:you|it|the \w+) to|instructions? to|text that says|phrases? (?:like|such as)|such as|like|can|could|may|might)\b[^.]{0,40}$/i;

export function isMentionAfter(before: string): boolean {
  return MENTION.test(before);
}

/** The topic alone, for sentences that have a “never” of their own. */
export function isAboutAttacks(text: string): boolean {
  return TOPIC.test(text);
}

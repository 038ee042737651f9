/** Whether a text says that what follows is not to be done: documents about attacks show what they warn of. */
const WARNING =
  /\b(?:never|do(?:es)? not|don['’]?t|must not|should not|cannot|avoid(?:s|ing)?|bad|wrong|dangerous|unsafe|malicious|insecure|vulnerab\w+|anti-?patterns?|forbidden|forbid|block(?:s|ed|ing)?|den(?:y|ied|ies)|reject(?:s|ed)?|attack\w*|exploit\w*|payloads?|incorrect|prohibit\w*|suspicious|red flags?|detect\w*|scan(?:s|ned|ning|ner)?(?: for)?|flag(?:s|ged)?|refus\w+|prevent\w*|threats?|risk[sy]?|warn\w*|instead of|not allowed|disallow\w*|jailbreak\w*|prompt injection|injections?|example of|such as|adversar\w+|pentest\w*|penetration test\w*|red[- ]team\w*|ctf|audit\w*)\b|❌|🚫|⛔|⚠|✗|✘/i;

export function isWarning(text: string): boolean {
  return WARNING.test(text);
}

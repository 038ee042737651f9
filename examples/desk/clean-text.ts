/** Cleans text from mail and calendars for a model: no invisible characters, and no credentials. */

/** Control characters, and characters that reorder or hide text. Line breaks and tabs stay. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * Common forms of credentials. Metier refuses an answer that holds one, so a single message with a token in it would
 * hide the whole inbox. Metier knows more forms than these and still refuses what slips through.
 */
const CREDENTIALS: readonly RegExp[] = [
  /\beyJ[\w-]{8,600}\.[\w-]{2}/,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/,
  /\b(?:bearer|basic)\s{1,3}[\w.~+/=-]{6}/i,
  /\b(?:access|refresh|id|auth|api)[_-]?(?:token|key)\b|\bclient[_-]?secret\b|\bpassword\b\s{0,3}[=:]/i,
  /\b(?:set-)?cookie:|\bauthorization\b\s{0,3}[=:]/i,
  /\b(?:xox[a-z]-|sk[-_]|gh[a-z]_|github_pat_|AKIA|ya29\.)[\w-]{10}/,
  /:\/\/[^\s:/@]{1,60}:[^\s:/@]{1,80}@/,
];

export function cleanText(text: string, most: number): string {
  const visible = text
    .slice(0, 4 * most)
    .replaceAll("\r\n", "\n")
    .replace(INVISIBLE, "");
  return visible.split("\n").map(leaveOutCredential).join("\n").slice(0, most);
}

export function cleanLine(text: string, most = 300): string {
  return cleanText(text.replace(/\s+/g, " ").trim(), most);
}

function leaveOutCredential(line: string): string {
  return CREDENTIALS.some((form) => form.test(line)) ? "[left out: looks like a credential]" : line;
}

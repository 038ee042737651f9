/**
 * Globs: `pdf-*`, `?`, `[a-f]`, exact text; over skill names in allow and deny lists, and over path segments. Patterns may come from an untrusted project
 * and names always do, so matching takes at most pattern times name steps; a regular expression made from
 * `*a*a*a*b` would not end.
 */

/** Answers with the first pattern that matches a name. */
export type NameMatcher = (name: string) => string | undefined;

/** Whether one character is as the pattern wants it; `undefined` stands for `*`, any number of them. */
type Token = ((character: string) => boolean) | undefined;

export function nameMatcher(patterns: readonly string[]): NameMatcher {
  const compiled = patterns.map((pattern) => ({ pattern, matches: compileGlob(pattern) }));
  return (name) => compiled.find((entry) => entry.matches(name))?.pattern;
}

/** `\\` takes the meaning from the character behind it. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const tokens = [...tokensOf(pattern)];
  return (text) => matches(tokens, [...text]);
}

/** Greedy: after a mismatch only the last `*` takes one character more, which is enough for single-character tokens. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const test = tokens[token];
    if (token < tokens.length && test === undefined) {
      star = token++;
      starAt = at;
    } else if (test?.(name[at] ?? "")) {
      token++;
      at++;
    } else if (star !== -1) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (token < tokens.length && tokens[token] === undefined) token++;
  return token === tokens.length;
}

function* tokensOf(pattern: string): Iterable<Token> {
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    const close = character === "[" ? characters.indexOf("]", at + 2) : -1;
    if (character === "\\" && at + 1 < characters.length) {
      const escaped = characters[++at];
      yield (given) => given === escaped;
    } else if (character === "*") yield undefined;
    else if (character === "?") yield () => true;
    else if (close !== -1) {
      yield classOf(characters.slice(at + 1, close));
      at = close;
    } else yield (given) => given === character;
  }
}

/** `[abc]`, `[a-f]`, `[!x]`. */
function classOf(members: readonly string[]): (character: string) => boolean {
  const isNegated = members[0] === "!" || members[0] === "^";
  const rest = isNegated ? members.slice(1) : members;
  return (character) => isMember(rest, character) !== isNegated;
}

function isMember(members: readonly string[], character: string): boolean {
  return members.some((member, index) => {
    const isRange = members[index + 1] === "-" && members[index + 2] !== undefined;
    return isRange ? member <= character && character <= (members[index + 2] ?? "") : member === character;
  });
}

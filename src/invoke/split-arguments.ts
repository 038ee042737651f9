/** Takes a line of arguments apart as a POSIX shell would, without a shell: quotes and backslashes, nothing else. */

/** Quotes that are never closed make no sense; then blanks alone stand between arguments. */
export function splitArguments(line: string): readonly string[] {
  return splitQuoted(line) ?? line.split(/\s+/).filter((word) => word !== "");
}

/** One part of an argument, with whatever blanks stand before it. */
const PART = /(\s*)(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+))/sy;

function splitQuoted(line: string): readonly string[] | undefined {
  const text = line.trimEnd();
  const words: string[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null) return undefined;
    const [, blanks, single, double, escaped, plain] = match;
    const part = single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "";
    const isNewWord = words.length === 0 || blanks !== "";
    if (isNewWord) words.push(part);
    else words[words.length - 1] += part;
  }
  return words;
}

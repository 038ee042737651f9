/** Where a top-level key stands in frontmatter, found when asked. Of a key that stands twice, the last one: it counts. */
import type { Position } from "../skill/skill.ts";
import { findLineEnd, positionAt } from "./text-position.ts";

/** `yaml`'s first line is line `firstLine` of its file. */
export function locateKey(yaml: string, firstLine: number, key: string): Position | undefined {
  const first = yaml.search(/\S/);
  const isFlow = yaml.charAt(first) === "{";
  const offset = isFlow ? findInFlow(yaml, key) : findAtLineStart(yaml, key);
  return offset === undefined ? undefined : positionAt(yaml, offset, firstLine);
}

function findAtLineStart(yaml: string, key: string): number | undefined {
  let base: number | undefined;
  let found: number | undefined;
  for (let at = 0; at < yaml.length; at = findLineEnd(yaml, at) + 1) {
    const line = yaml.slice(at, findLineEnd(yaml, at));
    const content = line.trimStart();
    if (content === "" || content.startsWith("#")) continue;
    const indent = line.length - content.length;
    base ??= indent;
    if (indent === base && isKey(content, key)) found = at + indent;
  }
  return found;
}

/** In flow style, `{name: x, description: y}`: the first place where the key is followed by a colon. */
function findInFlow(yaml: string, key: string): number | undefined {
  for (let at = yaml.indexOf(key); at !== -1; at = yaml.indexOf(key, at + 1)) {
    const isQuoted = /["']/.test(yaml.charAt(at - 1));
    const start = isQuoted ? at - 1 : at;
    if (/[{,\s]/.test(yaml.charAt(start - 1)) && isKey(yaml.slice(start, start + key.length + 8), key))
      return start;
  }
  return undefined;
}

function isKey(text: string, key: string): boolean {
  const quote = text.startsWith('"') || text.startsWith("'") ? text.charAt(0) : "";
  const written = quote + key + quote;
  return text.startsWith(written) && /^[ \t]*[:：]/.test(text.slice(written.length));
}

/**
 * How a number or boolean is written: `version: 1.0` is the number 1, and only its text says which version was meant.
 * Found when asked, for a key at the top level or one level below it; anything but a single plain word is not found.
 */
import { findLineEnd } from "./text-position.ts";

export function writtenScalar(yaml: string, path: readonly string[]): string | undefined {
  const [key = "", child] = path;
  const entry = findEntry(yaml, key);
  if (entry === undefined) return undefined;
  if (child === undefined) return plainWord(entry.value);
  if (entry.value.startsWith("{")) return findInFlow(entry.value, child);
  return entry.value === "" ? plainWord(findEntry(unindent(entry.below), child)?.value) : undefined;
}

interface Entry {
  readonly value: string;
  readonly below: string;
}

/** The last entry of that key at the left edge: it is the one that counts. */
function findEntry(yaml: string, key: string): Entry | undefined {
  let found: Entry | undefined;
  for (let at = 0; at < yaml.length; at = findLineEnd(yaml, at) + 1) {
    const end = findLineEnd(yaml, at);
    const line = yaml.slice(at, end);
    const colon = line.indexOf(":");
    if (
      colon <= 0 ||
      line
        .slice(0, colon)
        .trimEnd()
        .replace(/^(["'])(.*)\1$/, "$2") !== key
    )
      continue;
    found = { value: line.slice(colon + 1).trim(), below: yaml.slice(end + 1, endOfBlock(yaml, end + 1)) };
  }
  return found;
}

function endOfBlock(yaml: string, start: number): number {
  let at = start;
  while (at < yaml.length && /^(?:[ \t]|[ \t]*(?:#.*)?$)/.test(yaml.slice(at, findLineEnd(yaml, at)))) {
    at = findLineEnd(yaml, at) + 1;
  }
  return at;
}

/** The lines of a block at the left edge; deeper ones stay indented, so that their keys are not taken for its own. */
function unindent(block: string): string {
  const indent = /^([ \t]+)[^\s#]/m.exec(block)?.[1] ?? "";
  return block
    .split("\n")
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join("\n");
}

function findInFlow(flow: string, child: string): string | undefined {
  for (const part of flow.slice(1, -1).split(",")) {
    const colon = part.indexOf(":");
    if (
      part
        .slice(0, colon)
        .trim()
        .replace(/^(["'])(.*)\1$/, "$2") === child
    )
      return plainWord(part.slice(colon + 1));
  }
  return undefined;
}

function plainWord(value: string | undefined): string | undefined {
  const word = value?.replace(/\s+#.*$/, "").trim();
  return word !== undefined && /^[\w.+-]+$/.test(word) ? word : undefined;
}

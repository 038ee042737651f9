/**
 * Many texts searched for at once, in one pass over the input whatever the texts are (Aho–Corasick). A state is a number
 * that says which beginnings of patterns the input ends with, so the input may come in pieces.
 */
export interface Pattern {
  readonly text: string;
  /** What a match stands for. */
  readonly label: string;
}

export interface PatternSearch {
  /** Of the longest pattern. */
  readonly longest: number;
  /** The state after one more UTF-16 unit. */
  step(state: number, unit: number): number;
  /** How long the longest pattern is that ends here; 0 when none does. */
  matchLength(state: number): number;
  matchLabel(state: number): string;
  /** How many of the last units could still become a longer match. */
  liveLength(state: number): number;
}

export const START = 0;

const NONE = -1;

/** The tree of all beginnings: a node's children hang in a list, which is short everywhere but at the root. */
interface Trie {
  readonly size: number;
  readonly unit: Uint16Array;
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  readonly firstChild: Int32Array;
  readonly sibling: Int32Array;
  /** Index of the pattern that ends in the node. */
  readonly pattern: Int32Array;
  /** By unit, up to the last one there is: most of a text leads from the root back to it, so that has to be quick. */
  readonly rootChild: Int32Array;
}

export function createPatternSearch(patterns: readonly Pattern[]): PatternSearch {
  const trie = buildTrie(patterns);
  const fallback = new Int32Array(trie.size);
  const match = new Int32Array(trie.size).fill(NONE);
  const live = new Int32Array(trie.size);

  const step = (state: number, unit: number): number => {
    for (let node = state; node !== START; node = fallback[node] ?? START) {
      const child = childOf(trie, node, unit);
      if (child !== START) return child;
    }
    return trie.rootChild[unit] ?? START;
  };

  for (const node of breadthFirst(trie)) {
    const parent = trie.parent[node] ?? START;
    const back = parent === START ? START : step(fallback[parent] ?? START, trie.unit[node] ?? 0);
    fallback[node] = back;
    const own = trie.pattern[node] ?? NONE;
    match[node] = own === NONE ? (match[back] ?? NONE) : own;
    live[node] = (trie.firstChild[node] === START ? live[back] : trie.depth[node]) ?? 0;
  }
  const matched = (state: number): Pattern | undefined => patterns[match[state] ?? NONE];
  return {
    longest: Math.max(0, ...patterns.map(({ text }) => text.length)),
    step,
    matchLength: (state) => matched(state)?.text.length ?? 0,
    matchLabel: (state) => matched(state)?.label ?? "",
    liveLength: (state) => live[state] ?? 0,
  };
}

function buildTrie(patterns: readonly Pattern[]): Trie {
  const most = patterns.reduce((sum, { text }) => sum + text.length, 1);
  const trie = {
    size: 1,
    unit: new Uint16Array(most),
    parent: new Int32Array(most),
    depth: new Int32Array(most),
    firstChild: new Int32Array(most),
    sibling: new Int32Array(most),
    pattern: new Int32Array(most).fill(NONE),
    rootChild: new Int32Array(
      1 + patterns.reduce((most, { text }) => Math.max(most, text.charCodeAt(0) || 0), 0),
    ),
  };
  const addChild = (parent: number, unit: number): number => {
    const node = trie.size++;
    trie.unit[node] = unit;
    trie.parent[node] = parent;
    trie.depth[node] = (trie.depth[parent] ?? 0) + 1;
    trie.sibling[node] = trie.firstChild[parent] ?? START;
    trie.firstChild[parent] = node;
    if (parent === START) trie.rootChild[unit] = node;
    return node;
  };
  for (const [index, { text }] of patterns.entries()) {
    let node = START;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      node = childOf(trie, node, unit) || addChild(node, unit);
    }
    if (node !== START && trie.pattern[node] === NONE) trie.pattern[node] = index; // the first of equal ones
  }
  return trie;
}

function childOf({ unit, firstChild, sibling, rootChild }: Trie, node: number, wanted: number): number {
  if (node === START) return rootChild[wanted] ?? START;
  let child = firstChild[node] ?? START;
  while (child !== START && unit[child] !== wanted) child = sibling[child] ?? START;
  return child;
}

function* breadthFirst({ firstChild, sibling, size }: Trie): Generator<number> {
  const queue = new Int32Array(size);
  let end = 1;
  for (let at = 0; at < end; at++) {
    const node = queue[at] ?? START;
    if (node !== START) yield node;
    for (let child = firstChild[node] ?? START; child !== START; child = sibling[child] ?? START)
      queue[end++] = child;
  }
}

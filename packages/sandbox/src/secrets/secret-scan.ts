/**
 * Finds secrets in a text that comes in pieces, in all its views at once. Positions count from the start of the first
 * piece.
 */
import { TEXT_VIEWS, type TextView } from "./secret-forms.ts";

export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

export interface SecretScan {
  /** What was found in this piece; a span may start in an earlier one. */
  read(piece: string, isLast: boolean): readonly SecretSpan[];
  /** Nothing still to be found starts before this position. */
  settledEnd(): number;
}

export function createSecretScan(search: PatternSearch): SecretScan {
  const plain = new ViewScan(search);
  const views: ViewScan[] = [plain];
  let sleeping = TEXT_VIEWS;
  let end = 0;
  return {
    read(piece, isLast) {
      const spans: SecretSpan[] = [];
      // Without an escape a view equals the plain text; it is followed from the first escape character.
      const woken = sleeping.filter(({ leads }) => piece.search(leads) !== -1);
      if (woken.length > 0) {
        views.push(...woken.map((view) => plain.continueAs(view)));
        sleeping = sleeping.filter((view) => !woken.includes(view));
      }
      for (const view of views) view.read(piece, end, isLast, spans);
      end += piece.length;
      return spans;
    },
    settledEnd: () => Math.min(...views.map((view) => view.settledEnd(end))),
  };
}

class ViewScan {
  readonly #search: PatternSearch;
  readonly #view: TextView | undefined;
  #state: number = START;
  /** Where each of the last units starts in the source: at least as many as the state covers. */
  #starts: number[] = [];
  /** The end of what was read, while it may be the start of an escape. */
  #undecided = "";

  constructor(search: PatternSearch, view?: TextView) {
    this.#search = search;
    this.#view = view;
  }

  continueAs(view: TextView): ViewScan {
    const other = new ViewScan(this.#search, view);
    other.#state = this.#state;
    other.#starts = [...this.#starts];
    return other;
  }

  read(piece: string, position: number, isLast: boolean, spans: SecretSpan[]): void {
    const text = this.#undecided + piece;
    const base = position - this.#undecided.length;
    const view = this.#view;
    const end = view ? this.#readEscapes(view, text, base, isLast, spans) : 0;
    const stop = view && !isLast ? undecidedStart(view, text, end) : text.length;
    this.#readLiteral(text, end, stop, base, spans);
    this.#undecided = text.slice(stop);
  }

  settledEnd(end: number): number {
    const live = this.#search.liveLength(this.#state);
    return live === 0 ? end - this.#undecided.length : this.#startOf(live);
  }

  /** Up to the last complete escape; returns where that ends. */
  #readEscapes(view: TextView, text: string, base: number, isLast: boolean, spans: SecretSpan[]): number {
    let at = 0;
    view.escape.lastIndex = 0;
    for (let match = view.escape.exec(text); match; match = view.escape.exec(text)) {
      if (!isLast && match.index + view.longestEscape > text.length) break;
      this.#readLiteral(text, at, match.index, base, spans);
      at = match.index + match[0].length;
      const decoded = view.decode(match[0]);
      for (let index = 0; index < decoded.length; index++)
        this.#readUnit(decoded.charCodeAt(index), base + match.index, base + at, spans);
    }
    return at;
  }

  #readLiteral(text: string, from: number, to: number, base: number, spans: SecretSpan[]): void {
    for (let at = from; at < to; at++) this.#readUnit(text.charCodeAt(at), base + at, base + at + 1, spans);
  }

  #readUnit(unit: number, start: number, end: number, spans: SecretSpan[]): void {
    const search = this.#search;
    const before = this.#state;
    this.#state = search.step(before, unit);
    if (this.#state === START) {
      if (before !== START) this.#starts = [];
      return;
    }
    this.#starts.push(start);
    if (this.#starts.length > 2 * search.longest) this.#starts = this.#starts.slice(-search.longest);
    const match = search.match(this.#state);
    if (match) spans.push({ start: this.#startOf(match.text.length), end, label: match.label });
  }

  /** The source position of the unit that is `length` units back. */
  #startOf(length: number): number {
    return this.#starts[this.#starts.length - length] ?? 0;
  }
}

/** Where the end of the text may be an incomplete escape. */
function undecidedStart({ leads, longestEscape }: TextView, text: string, from: number): number {
  leads.lastIndex = Math.max(from, text.length - longestEscape + 1);
  return leads.exec(text)?.index ?? text.length;
}

/**
 * Searches many texts at once, in one pass over the input (Aho–Corasick). A state is a number for the pattern prefixes
 * at the end of the input, so the input may come in pieces.
 */
export interface Pattern {
  readonly text: string;
  /** What a match stands for. */
  readonly label: string;
}

export interface PatternSearch {
  /** Length of the longest pattern. */
  readonly longest: number;
  /** The state after one more UTF-16 unit. */
  step(state: number, unit: number): number;
  /** The longest pattern that ends here. */
  match(state: number): Pattern | undefined;
  /** How many of the last units could still become a longer match. */
  liveLength(state: number): number;
}

const START = 0;

const NONE = -1;

/** The tree of all prefixes: a node's children are a list, which is short except at the root. */
interface Trie {
  readonly size: number;
  readonly unit: Uint16Array;
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  readonly firstChild: Int32Array;
  readonly sibling: Int32Array;
  /** Index of the pattern that ends in the node. */
  readonly pattern: Int32Array;
  /** By unit, up to the highest one: most of a text leads from the root back to it, so this must be fast. */
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
  return {
    longest: Math.max(0, ...patterns.map(({ text }) => text.length)),
    step,
    match: (state) => patterns[match[state] ?? NONE],
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

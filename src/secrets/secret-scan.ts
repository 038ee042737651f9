/**
 * Finds where secrets stand in a text that comes in pieces, in every view of it at once. Positions count from the
 * beginning of the first piece.
 */
import { type PatternSearch, START } from "./pattern-search.ts";
import { TEXT_VIEWS, type TextView } from "./text-views.ts";

export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

export interface SecretScan {
  /** What was found in this piece; a span may begin in an earlier one. */
  read(piece: string, isLast: boolean): readonly SecretSpan[];
  /** Nothing that is still to be found begins before this position. */
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
      // Without an escape a view reads as the plain text does; it is followed from the first lead on.
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
  /** Where each of the last units begins in the source: at least as many as the state knows of. */
  #starts: number[] = [];
  /** The end of what was read, as long as it may be the beginning of an escape. */
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

  /** Up to the last escape that is whole for certain; answers where that ends. */
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
    const length = search.matchLength(this.#state);
    if (length > 0) spans.push({ start: this.#startOf(length), end, label: search.matchLabel(this.#state) });
  }

  /** The source position of the unit that is `length` units back. */
  #startOf(length: number): number {
    return this.#starts[this.#starts.length - length] ?? 0;
  }
}

/** Where the end of the text may be an escape of which only the beginning is there. */
function undecidedStart({ leads, longestEscape }: TextView, text: string, from: number): number {
  leads.lastIndex = Math.max(from, text.length - longestEscape + 1);
  return leads.exec(text)?.index ?? text.length;
}

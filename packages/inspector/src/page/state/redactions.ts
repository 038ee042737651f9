/** The marks that redaction leaves in texts: found, named and counted. There is nothing behind them any more. Pure. */

/** As the redaction gate writes them: `[redacted:NAME]`, or without the name. */
const MARK = /\[redacted(?::([A-Za-z_][\w.-]{0,63}))?\]/g;
const UNNAMED = "unnamed secret";

interface TextPart {
  readonly text: string;
  /** Of a mark: the name of what stood there. */
  readonly redacted?: string;
}

/** A text as pieces, marks apart from the rest. */
export function splitRedactions(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index) });
    parts.push({ text: match[0], redacted: match[1] ?? UNNAMED });
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at) });
  return parts;
}

const MOST_DEPTH = 100;
const counted = new WeakMap<object, ReadonlyMap<string, number>>();

/** Of one thing that does not change, such as an event: looked through once. */
export function redactionsIn(item: object): ReadonlyMap<string, number> {
  const known = counted.get(item);
  if (known) return known;
  const counts = countRedactions(item);
  counted.set(item, counts);
  return counts;
}

/** How often each name was taken out, in all texts of a value, keys included. Most often first. */
export function countRedactions(value: unknown): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const visit = (item: unknown, depth: number): void => {
    if (typeof item === "string") {
      for (const [, name = UNNAMED] of item.matchAll(MARK)) counts.set(name, (counts.get(name) ?? 0) + 1);
    } else if (typeof item === "object" && item !== null && depth < MOST_DEPTH) {
      for (const [key, child] of Object.entries(item)) {
        visit(key, depth + 1);
        visit(child, depth + 1);
      }
    }
  };
  visit(value, 0);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}

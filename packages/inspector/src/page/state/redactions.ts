/** The marks that redaction leaves in texts: finds, names and counts them. The secrets themselves are gone. Pure. */

/** As the redaction gate writes them: `[redacted:NAME]`, or without the name. */
const MARK = /\[redacted(?::([A-Za-z_][\w.-]{0,63}))?\]/g;
const UNNAMED = "unnamed secret";

interface TextPart {
  readonly text: string;
  /** The name in a mark. */
  readonly redacted?: string;
}

/** A text as pieces, with marks separate from the rest. */
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

/** For things that don't change, such as an event: searched once. */
export function redactionsIn(item: object): ReadonlyMap<string, number> {
  const known = counted.get(item);
  if (known) return known;
  const counts = countRedactions(item);
  counted.set(item, counts);
  return counts;
}

/** How often each name was redacted, in all texts of a value, keys included. Most frequent first. */
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

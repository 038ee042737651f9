/** What a text that was not found comes nearest to in a file, so that the next try can be right. Bounded. */

const MAX_LINES = 20_000;
const MAX_LINE = 500;
const MAX_SHOWN = 200;
/** Share of common words from which on a line is worth naming. */
const NEAR = 0.5;

/** One or two sentences; what to do about it included. */
export function describeNearText(text: string, wanted: string): string {
  const lines = text.split("\n", MAX_LINES);
  const [first = "", ...rest] = wanted.split("\n").filter((line) => line.trim() !== "");
  const near = findNearest(lines, first);
  const advice = "Read the file and copy the text exactly.";
  if (near === undefined) return `No line of it is like the first of \`old_string\`. ${advice}`;
  const found = lines[near] ?? "";
  if (normalise(found) !== normalise(first)) {
    return `The nearest line is ${near + 1}: ${show(found)}. ${advice}`;
  }
  if (!found.includes(first.trim()) || (rest.length === 0 && !found.includes(first))) {
    return `Line ${near + 1} differs in its blanks only: ${show(found)}. ${advice}`;
  }
  return `Its first line is line ${near + 1}, but the text does not go on as \`old_string\` does. ${advice}`;
}

/** The index of the line that is most like `wanted`: equal but for blanks, or with the most words in common. */
function findNearest(lines: readonly string[], wanted: string): number | undefined {
  const target = normalise(wanted);
  const exact = lines.findIndex((line) => normalise(line) === target);
  if (exact !== -1) return exact;
  const words = wordsOf(wanted);
  let best: number | undefined;
  let bestScore = NEAR;
  for (const [index, line] of lines.entries()) {
    const score = similarity(words, wordsOf(line));
    if (score > bestScore || (best === undefined && score === bestScore)) {
      best = index;
      bestScore = score;
    }
  }
  return best;
}

/** From 0 to 1: the share of words that both have. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0;
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return (2 * common) / (a.size + b.size);
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(
    line
      .slice(0, MAX_LINE)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );
}

function normalise(line: string): string {
  return line.slice(0, MAX_LINE).replace(/\s+/g, " ").trim();
}

function show(line: string): string {
  const plain = line.replace(/\r$/, "");
  return JSON.stringify(plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain);
}

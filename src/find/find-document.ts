/** What of a skill is searched, its parts, and how much a word in each of them counts. */

export interface FindDocument {
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly whenToUse?: string;
  /** The instructions. */
  readonly body: string;
  /** The skill file; given back with a hit. */
  readonly location?: string;
}

interface Part {
  readonly name: string;
  /** How much a word counts here, beside one in prose. */
  readonly weight: number;
  /** From 0 to 1: how much the length of the part takes from the weight of each of its words. */
  readonly lengthNorm: number;
}

/**
 * `about` is description, when-to-use and tags. The numbers were chosen on requests for real skills; neighbouring
 * values rank almost alike (`docs/benchmarks.md` has what they achieve).
 */
export const PARTS: readonly Part[] = [
  { name: "name", weight: 6, lengthNorm: 0.5 },
  { name: "about", weight: 4, lengthNorm: 0.4 },
  { name: "headings", weight: 1.5, lengthNorm: 0.75 },
  { name: "prose", weight: 1, lengthNorm: 0.75 },
  { name: "code", weight: 0.3, lengthNorm: 0.75 },
];

/** Places in `PARTS`. */
export const NAME = 0;
export const ABOUT = 1;
const HEADINGS = 2;
const PROSE = 3;
const CODE = 4;

/** Gives each line of a body with the part it belongs to. */
export function eachBodyLine(body: string, visit: (part: number, from: number, to: number) => void): void {
  let fence = "";
  for (let from = 0; from < body.length; ) {
    const found = body.indexOf("\n", from);
    const to = found < 0 ? body.length : found;
    const mark = fenceMark(body, from, to);
    if (mark !== "" && (fence === "" || fence === mark)) {
      fence = fence === "" ? mark : "";
    } else if (fence !== "") {
      visit(CODE, from, to);
    } else {
      visit(body.charAt(from) === "#" ? HEADINGS : PROSE, from, to);
    }
    from = to + 1;
  }
}

/** The character of a line's code fence, `""` when it is none. */
function fenceMark(body: string, from: number, to: number): string {
  let at = from;
  while (at < to && (body.charAt(at) === " " || body.charAt(at) === "\t")) at += 1;
  const mark = body.charAt(at);
  return (mark === "`" || mark === "~") && body.startsWith(mark.repeat(3), at) ? mark : "";
}

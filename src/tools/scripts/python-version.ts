/** `requires-python` against the version that is there: the comparisons of PEP 440 on release numbers. */

type Release = readonly number[];

const CLAUSE = /^(~=|===?|!=|<=|>=|<|>)\s*(\d{1,4}(?:\.\d{1,4}){0,3})(\.\*)?$/;

/** `undefined` when the requirement cannot be read. */
export function meetsRequirement(version: string, requirement: string): boolean | undefined {
  const found = readRelease(version);
  const clauses = requirement
    .split(",")
    .map((clause) => clause.trim())
    .filter(Boolean);
  let isMet = true;
  for (const clause of clauses) {
    const [, operator = "", wanted = "", star] = CLAUSE.exec(clause) ?? [];
    const compare = COMPARISONS[operator];
    if (!compare || (star !== undefined && !TAKES_STAR.has(operator))) return undefined;
    isMet &&= compare(found, readRelease(wanted), star !== undefined);
  }
  return isMet;
}

const TAKES_STAR: ReadonlySet<string> = new Set(["==", "!="]);

const COMPARISONS: Readonly<Record<string, (found: Release, wanted: Release, isPrefix: boolean) => boolean>> =
  {
    ">=": (found, wanted) => order(found, wanted) >= 0,
    "<=": (found, wanted) => order(found, wanted) <= 0,
    ">": (found, wanted) => order(found, wanted) > 0,
    "<": (found, wanted) => order(found, wanted) < 0,
    "==": isSame,
    "===": isSame,
    "!=": (found, wanted, isPrefix) => !isSame(found, wanted, isPrefix),
    // `~=3.11` is `>=3.11, ==3.*`.
    "~=": (found, wanted) => order(found, wanted) >= 0 && isSame(found, wanted.slice(0, -1), true),
  };

function isSame(found: Release, wanted: Release, isPrefix: boolean): boolean {
  return order(isPrefix ? found.slice(0, wanted.length) : found, wanted) === 0;
}

function order(a: Release, b: Release): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readRelease(text: string): Release {
  return text.split(".").map(Number);
}

/** Which test files cite which requirement or behaviour case, read from the sources of the tests. */
import { filesUnder, readRepositoryFile, TESTS } from "./repository.ts";

/** The first argument of `verifies(…)`: one proof or a list of them. */
const CITATION = /\bverifies\(\s*(\[[^\]]*\]|\d+|"case \d+")/g;
const PROOF = /"case (\d+)"|(\d+)/g;

/** Number → the files that cite it. */
export type Citations = ReadonlyMap<number, ReadonlySet<string>>;

export function collectCitations(): { readonly requirements: Citations; readonly cases: Citations } {
  const requirements = new Map<number, Set<string>>();
  const cases = new Map<number, Set<string>>();
  for (const path of filesUnder(TESTS, [".test.ts"])) {
    for (const citation of readRepositoryFile(path).matchAll(CITATION)) {
      for (const [, behaviourCase, requirement] of (citation[1] ?? "").matchAll(PROOF)) {
        if (behaviourCase) add(cases, Number(behaviourCase), path);
        else add(requirements, Number(requirement), path);
      }
    }
  }
  return { requirements, cases };
}

function add(citations: Map<number, Set<string>>, id: number, path: string): void {
  citations.set(id, (citations.get(id) ?? new Set()).add(path));
}

/**
 * `npm run requirements`: lists every requirement and behavior case with the tests that prove it, or says that it is
 * not due yet.
 */
import { BEHAVIOUR_CASES } from "../test/behaviour-cases.ts";
import { DUE, REQUIREMENTS } from "../test/requirements.ts";
import { collectCitations } from "../test/support/citations.ts";

const { requirements, cases } = collectCitations();
print("requirement", REQUIREMENTS, requirements);
print("case", BEHAVIOUR_CASES, cases);

/**
 * @param {string} noun
 * @param {readonly import("../test/requirements.ts").Requirement[]} rows
 * @param {import("../test/support/citations.ts").Citations} citations
 */
function print(noun, rows, citations) {
  for (const { id, stage, title, bench } of rows) {
    const proofs = [...(citations.get(id) ?? []), ...(bench ? [bench] : [])].join(", ");
    const state = proofs || (DUE.includes(stage) ? "NOT PROVEN" : `not yet due (stage ${stage})`);
    console.log(`${noun} ${id}: ${title}\n    ${state}`);
  }
}

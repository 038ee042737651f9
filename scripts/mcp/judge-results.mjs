/** Turns the suite's checks into one verdict per scenario. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NOT_APPLICABLE } from "./not-applicable.mjs";

/**
 * @typedef {{ id: string, status: string, errorMessage?: string }} Check
 * @typedef {{ scenario: string, verdict: "passed" | "failed" | "not applicable", lines: readonly string[] }} Verdict
 */

/** `server-<scenario>-<time>` */
const FOLDER = /^server-(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** @param {string} folder @returns {readonly Verdict[]} */
export function judgeResults(folder) {
  return readdirSync(folder)
    .map((name) => ({ name, scenario: FOLDER.exec(name)?.groups?.scenario ?? name }))
    .map(({ name, scenario }) =>
      judge(scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))),
    );
}

/** @param {string} scenario @param {readonly Check[]} checks @returns {Verdict} */
function judge(scenario, checks) {
  const failed = checks.filter(({ status }) => status === "FAILURE");
  // What is sent must fit the protocol's schema, no matter what was requested.
  const isMalformed = failed.some(({ id }) => id.startsWith("wire-schema"));
  const reason = NOT_APPLICABLE[scenario];
  if (reason !== undefined && !isMalformed) {
    return failed.length > 0
      ? { scenario, verdict: "not applicable", lines: [reason] }
      : {
          scenario,
          verdict: "failed",
          lines: ["it passes, so its entry in not-applicable.mjs is out of date"],
        };
  }
  /** @param {Check} check */
  const excuse = ({ id }) => NOT_APPLICABLE[`${scenario}:${id}`];
  const unexcused = failed.filter((check) => excuse(check) === undefined);
  return {
    scenario,
    verdict: unexcused.length === 0 ? "passed" : "failed",
    lines: [
      ...unexcused.map(({ id, errorMessage = "" }) => `${id}: ${errorMessage}`),
      ...failed
        .filter((check) => excuse(check))
        .map((check) => `${check.id} not applicable: ${excuse(check)}`),
    ],
  };
}

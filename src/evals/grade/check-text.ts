/** Assertions that need neither a model nor a script: what the answer or a file holds, and whether a file is there. */
import { compileExactPattern } from "../../find/trigger-pattern.ts";
import type { Assertion, Check } from "../eval-set.ts";
import { readWorkspaceFile } from "../workspace.ts";
import { cutEvidence, type GradedAssertion } from "./graded.ts";

const MOST_BYTES = 4 * 1024 * 1024;

export type TextCheck = Exclude<Check, { kind: "model" | "script" }>;

export interface CheckedOutput {
  readonly answer: string;
  readonly folder: string;
}

export function checkText({ text }: Assertion, check: TextCheck, output: CheckedOutput): GradedAssertion {
  if (!("value" in check)) {
    const found = readWorkspaceFile(output.folder, check.file, 0);
    const evidence = found.ok ? `\`${check.file}\` is there.` : found.message;
    return { text, passed: found.ok === (check.kind === "file-exists"), evidence };
  }
  const read =
    check.file === undefined
      ? ({ ok: true, text: output.answer, isCut: false } as const)
      : readWorkspaceFile(output.folder, check.file, MOST_BYTES);
  if (!read.ok) return { text, passed: false, evidence: read.message };
  const where = check.file === undefined ? "the answer" : `\`${check.file}\``;
  const { passed, evidence } = compare(check, read.text, where);
  const note = read.isCut ? ` Only the first ${MOST_BYTES} bytes were looked at.` : "";
  return { text, passed, evidence: cutEvidence(evidence) + note };
}

type Comparison = Pick<GradedAssertion, "passed" | "evidence">;

function compare(
  { kind, value }: Extract<TextCheck, { value: string }>,
  came: string,
  where: string,
): Comparison {
  switch (kind) {
    case "contains":
    case "not-contains": {
      const at = came.indexOf(value);
      const passed = at >= 0 === (kind === "contains");
      return { passed, evidence: at < 0 ? `It is not in ${where}.` : `In ${where}: ${quote(came, at)}` };
    }
    case "equals": {
      const passed = came.trim() === value.trim();
      return { passed, evidence: passed ? `It is ${where}.` : `Instead, ${where} is ${quote(came, 0)}` };
    }
    case "regex":
    case "not-regex": {
      const pattern = compileExactPattern(value); // That it can be used was checked when it was read.
      const isFound = pattern.ok && pattern.matches(came);
      const evidence = isFound ? `It matches ${where}.` : `Nothing in ${where} matches.`;
      return { passed: isFound === (kind === "regex"), evidence };
    }
  }
}

/** What stands around a place. */
function quote(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - 60), at + 200];
  const before = from > 0 ? "…" : "";
  return JSON.stringify(`${before}${text.slice(from, to)}${to < text.length ? "…" : ""}`);
}

/**
 * Assertions that need no model: what the answer or a file contains, whether a file exists, and what a script of the
 * skill decides.
 */

import { isJsonObject } from "@metier/base/json";
import { done } from "@metier/base/result";
import { refusalText, type ScriptResult } from "@metier/run";
import {
  type Assertion,
  type AssertionCheck,
  compileExactPattern,
  type EvalCase,
  locateScript,
} from "@metier/skills/formats";
import { type Arm, copyWorkspace, type OpenMetier, openArm, readWorkspaceFile } from "../run-eval.ts";

/** A decided assertion with its evidence. */
export interface GradedAssertion {
  readonly text: string;
  readonly passed: boolean;
  /** A quotation, a value, or why it could not be decided. */
  readonly evidence: string;
  /** It could not be decided because the grading failed, not the skill. */
  readonly isFault?: boolean;
}

const MOST_EVIDENCE = 2000;

/** Evidence is kept short; the outputs themselves are kept, too. */
export function cutEvidence(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > MOST_EVIDENCE ? `${trimmed.slice(0, MOST_EVIDENCE)}…` : trimmed;
}

const MOST_BYTES = 4 * 1024 * 1024;

type TextCheck = Exclude<AssertionCheck, { kind: "model" | "script" }>;

/** `folder` is the run's workspace. */
export function checkText(
  { text }: Assertion,
  check: TextCheck,
  output: { readonly answer: string; readonly folder: string },
): GradedAssertion {
  if (!("value" in check)) {
    const found = readWorkspaceFile(output.folder, check.file, 0);
    const evidence = found.ok ? `\`${check.file}\` exists.` : found.refusal;
    return { text, passed: found.ok === (check.kind === "file-exists"), evidence };
  }
  const read =
    check.file === undefined
      ? done({ text: output.answer, isCut: false })
      : readWorkspaceFile(output.folder, check.file, MOST_BYTES);
  if (!read.ok) return { text, passed: false, evidence: read.refusal };
  const where = check.file === undefined ? "the answer" : `\`${check.file}\``;
  const { passed, evidence } = compare(check, read.value.text, where);
  const note = read.value.isCut ? ` Only the first ${MOST_BYTES} bytes were checked.` : "";
  return { text, passed, evidence: cutEvidence(evidence) + note };
}

function compare(
  { kind, value }: Extract<TextCheck, { value: string }>,
  came: string,
  where: string,
): Verdict {
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
      const pattern = compileExactPattern(value); // It was checked for validity when it was read.
      const isFound = pattern.ok && pattern.value.matches(came);
      const evidence = isFound ? `It matches ${where}.` : `Nothing in ${where} matches.`;
      return { passed: isFound === (kind === "regex"), evidence };
    }
  }
}

/** The text around a position. */
function quote(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - 60), at + 200];
  const before = from > 0 ? "…" : "";
  return JSON.stringify(`${before}${text.slice(from, to)}${to < text.length ? "…" : ""}`);
}

export interface ScriptOrder {
  readonly open: OpenMetier;
  /** The skill under test: its script decides, no matter which arm ran. */
  readonly skill: Arm;
  readonly evalCase: EvalCase;
  readonly answer: string;
  readonly files: readonly string[];
  /** The run's workspace. */
  readonly workspace: string;
  /** A separate folder that doesn't exist yet. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Runs in the sandbox with the skill's own trust. The script finds a copy of the workspace in `$METIER_WORK_DIR`, and
 * the task and answer on stdin. Exit code 0 means that the assertion passes; `{"passed": …, "evidence": …}` on stdout
 * is more precise.
 */
export async function checkByScript(
  { text }: Assertion,
  { script, args }: Extract<AssertionCheck, { kind: "script" }>,
  order: ScriptOrder,
): Promise<GradedAssertion> {
  const { open, skill, evalCase, answer, files, workspace, folder, signal } = order;
  copyWorkspace(workspace, folder);
  const metier = await openArm(open, skill, folder);
  try {
    const result = await metier.script({
      skill: skill.skill,
      script: locateScript(skill.directory, script),
      args,
      source: "code",
      workDir: folder,
      signal,
      stdin: {
        id: evalCase.id,
        prompt: evalCase.prompt,
        expected_output: evalCase.expectedOutput ?? "",
        answer,
        files,
      },
    });
    return { text, ...judge(result) };
  } finally {
    await metier.capabilities.close();
  }
}

type Verdict = Omit<GradedAssertion, "text">;

function judge({ ended, exitCode, stdout, stderr, json, refusal, error }: ScriptResult): Verdict {
  if (refusal) return fault(`The script was refused: ${refusalText(refusal)}`);
  if (ended !== "exited" || exitCode === undefined) return fault(error?.message ?? "The script did not end.");
  const said = stdout.trim() || stderr.trim();
  if (exitCode !== 0) return { passed: false, evidence: cutEvidence(said || `Exit code ${exitCode}.`) };
  if (!isJsonObject(json)) return { passed: true, evidence: cutEvidence(said || "Exit code 0.") };
  const { passed = true, evidence } = json;
  if (typeof passed !== "boolean")
    return fault("The script wrote a `passed` that is neither true nor false.");
  return { passed, evidence: cutEvidence(typeof evidence === "string" ? evidence : said) };
}

function fault(reason: string): Verdict {
  return { passed: false, evidence: cutEvidence(reason), isFault: true };
}

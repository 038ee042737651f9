/**
 * An assertion that a script of the skill decides, in the sandbox and with the skill's own trust. It finds a copy of the
 * workspace in `$METIER_WORK_DIR` and what was asked and answered on standard input; exit code 0 means that it holds.
 * `{"passed": …, "evidence": …}` on standard output says it more exactly.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { refusalText } from "../../invoke/refusal-text.ts";
import type { ScriptResult } from "../../run/script-result.ts";
import { type Arm, type OpenMetier, openArm } from "../arms.ts";
import type { Assertion, Check, EvalCase } from "../eval-set.ts";
import { isRecord } from "../read/json-file.ts";
import { copyWorkspace } from "../workspace.ts";
import { cutEvidence, type GradedAssertion } from "./graded.ts";

export interface ScriptOrder {
  readonly open: OpenMetier;
  /** The skill under test: its script decides, whichever side ran. */
  readonly skill: Arm;
  readonly evalCase: EvalCase;
  readonly answer: string;
  readonly files: readonly string[];
  /** The workspace of the run. */
  readonly workspace: string;
  /** A folder of its own, which is not there yet. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

export async function checkByScript(
  { text }: Assertion,
  { script, args }: Extract<Check, { kind: "script" }>,
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

/** Beside `evals.json` first, then as a path in the skill. */
function locateScript(directory: string, script: string): string {
  const beside = `evals/${script.replace(/^\.\//, "")}`;
  return existsSync(join(directory, beside)) ? beside : script;
}

type Verdict = Omit<GradedAssertion, "text">;

function judge({ ended, exitCode, stdout, stderr, json, refusal, error }: ScriptResult): Verdict {
  if (refusal) return fault(`The script was refused: ${refusalText(refusal)}`);
  if (ended !== "exited" || exitCode === undefined) return fault(error?.message ?? "The script did not end.");
  const said = stdout.trim() || stderr.trim();
  if (exitCode !== 0) return { passed: false, evidence: cutEvidence(said || `Exit code ${exitCode}.`) };
  if (!isRecord(json)) return { passed: true, evidence: cutEvidence(said || "Exit code 0.") };
  const { passed = true, evidence } = json;
  if (typeof passed !== "boolean")
    return fault("The script wrote a `passed` that is neither true nor false.");
  return { passed, evidence: cutEvidence(typeof evidence === "string" ? evidence : said) };
}

function fault(reason: string): Verdict {
  return { passed: false, evidence: cutEvidence(reason), isFault: true };
}

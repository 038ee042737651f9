/** Whether a person agrees to a tool call: asked one at a time, remembered for the run. Nobody to ask means no. */
import type { ToolInput } from "../tools/tool.ts";

export interface ApprovalQuestion {
  readonly skill: string;
  readonly tool: string;
  readonly input: ToolInput;
  /** Why it is asked. */
  readonly rule: string;
}

/** `always`: also for the same tool with the same input, for the rest of the run. */
export type ApprovalAnswer = "yes" | "no" | "always";
export type AskApproval = (question: ApprovalQuestion) => ApprovalAnswer | Promise<ApprovalAnswer>;

export interface Approvals {
  ask(
    question: Omit<ApprovalQuestion, "skill">,
  ): Promise<{ readonly approved: boolean; readonly rule: string }>;
}

export interface ApprovalSettings {
  readonly skill: string;
  /** `all`: yes to every question policy would ask. Absent: nobody can be asked. */
  readonly approve?: "all" | AskApproval;
  /** What `always` was answered to; given by a chat, whose turns share it. */
  readonly remembered?: Set<string>;
}

export function createApprovals({ skill, approve, remembered = new Set() }: ApprovalSettings): Approvals {
  let turn: Promise<unknown> = Promise.resolve();
  const askPerson = async (
    question: Omit<ApprovalQuestion, "skill">,
  ): Promise<{ readonly approved: boolean; readonly rule: string }> => {
    if (approve === "all") return { approved: true, rule: "approved by `--approve`" };
    if (approve === undefined) {
      return { approved: false, rule: `${question.rule}, and there is nobody to ask` };
    }
    const key = JSON.stringify([question.tool, question.input]);
    if (remembered.has(key)) return { approved: true, rule: "approved earlier in this run" };
    try {
      const answer = await approve({ ...question, skill });
      if (answer === "always") remembered.add(key);
      // Only these two words agree: a program in JavaScript may answer with anything.
      return answer === "yes" || answer === "always"
        ? { approved: true, rule: "approved by the user" }
        : { approved: false, rule: "the user declined" };
    } catch (error) {
      // The window was closed, or the embedding program has a fault: nobody agreed.
      const reason = error instanceof Error ? error.message : String(error);
      return { approved: false, rule: `the user could not be asked: ${reason}` };
    }
  };
  return {
    ask(question) {
      // Two calls of one step must not talk over each other in a terminal.
      const next = turn.then(() => askPerson(question));
      turn = next;
      return next;
    },
  };
}

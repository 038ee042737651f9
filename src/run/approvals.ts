/** Whether a person agrees to a tool call: asked one at a time, remembered for the run. Nobody to ask means no. */
import type { ConfirmMutation } from "../capabilities/capability-broker.ts";
import type { AskUser } from "../tools/ask-user.ts";
import type { ToolInput } from "../tools/tool.ts";
import { untilStopped } from "./until-stopped.ts";

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
  /** Once the signal has come, nobody is asked any more. */
  ask(question: Omit<ApprovalQuestion, "skill">, signal: AbortSignal): Promise<Approval>;
}

export interface Approval {
  readonly approved: boolean;
  readonly rule: string;
}

export interface ApprovalSettings {
  readonly skill: string;
  /** `all`: yes to every question policy would ask. Absent: nobody can be asked. */
  readonly approve?: "all" | AskApproval;
  /** What `always` was answered to; given by a chat, whose turns share it. */
  readonly remembered?: Set<string>;
  /** Of the run that started this one: the same person is asked. */
  readonly queue?: QuestionQueue;
}

export function createApprovals(settings: ApprovalSettings): Approvals {
  const { skill, approve, remembered = new Set(), queue = createQuestionQueue() } = settings;
  const askPerson = async (
    question: Omit<ApprovalQuestion, "skill">,
    signal: AbortSignal,
  ): Promise<Approval> => {
    if (signal.aborted) return STOPPED;
    if (approve === "all") return { approved: true, rule: "approved in advance" };
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
    async ask(question, signal) {
      return (await queue(() => askPerson(question, signal), signal)) ?? STOPPED;
    },
  };
}

const STOPPED: Approval = { approved: false, rule: "the run was stopped before anyone answered" };

/** Lets one question after the other be asked; `undefined` for one whose run was stopped meanwhile. */
export type QuestionQueue = <Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
) => Promise<Answer | undefined>;

export function createQuestionQueue(): QuestionQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (ask, signal) => {
    const asked = untilStopped(last.then(ask), signal);
    last = asked.catch(() => undefined); // Whoever asked hears of the fault; the next question is asked all the same.
    return asked;
  };
}

/** Questions of a model wait in the same queue: a person is asked one thing at a time. */
export function queueQuestions<Asking extends { readonly askUser?: AskUser }>(
  asking: Asking,
  queue: QuestionQueue,
): Asking {
  const { askUser } = asking;
  if (askUser === undefined) return asking;
  return {
    ...asking,
    askUser: (question, signal) =>
      queue(async () => (signal.aborted ? undefined : askUser(question, signal)), signal),
  };
}

/** So do those before a change; without an answer nothing is changed. */
export function queueConfirmation(confirm: ConfirmMutation, queue: QuestionQueue): ConfirmMutation {
  return async (plan, signal = new AbortController().signal) =>
    (await queue(async () => (signal.aborted ? "no" : confirm(plan, signal)), signal)) ?? "no";
}

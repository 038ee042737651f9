/**
 * Questions of a durable run: each is a row in its journal, asked once and answered once, by anyone, in this process or
 * a later one. Without an answer the call waits, and the run parks.
 */
import type { Json, JsonObject } from "@metier/base/json";
import type { Question } from "@metier/durable";
import type { LiveRun } from "../run/live-run.ts";
import type { ApprovalQuestion } from "../run/run-policy.ts";
import type { UserQuestion } from "../tools/ask-user.ts";
import type { ToolInput } from "../tools/tool.ts";
import { callName } from "./call-journal.ts";
import type { DurableRunParts } from "./durable-run.ts";

interface DurableApproval {
  readonly approved: boolean;
  readonly rule: string;
  /** As changed by the person. */
  readonly input?: ToolInput | undefined;
}

/** `undefined`: nobody answered; the call waited until the run was stopped. */
export async function askDurably(
  question: Omit<ApprovalQuestion, "skill">,
  callId: string,
  live: LiveRun,
  durable: DurableRunParts,
  signal: AbortSignal,
): Promise<DurableApproval | undefined> {
  const { context } = live;
  const { redactor, subject, request } = context;
  if (request.approve === "all") return { approved: true, rule: "approved in advance" };
  const { step } = durable;
  const { tool } = question;
  const key = `approval ${callName(durable, callId)}`;
  const body = redactor.redactJson({ ...question, skill: subject.skill.name }) as unknown as JsonObject;
  const asked = await askOnce(durable, { key, kind: "approval", body }, (questionId) =>
    context.recorder.emit({
      type: "approval-asked",
      step,
      callId,
      tool,
      questionId,
      input: redactor.redactJson(question.input),
      rule: question.rule,
    }),
  );
  if (asked.status === "pending") {
    await durable.parking.wait(callId, signal);
    return undefined;
  }
  const decision = explainAnswer(asked);
  if (durable.steps.find(`told ${key}`) === undefined) {
    const { id: questionId, status, answeredBy: by } = asked;
    context.recorder.emit({ type: "approval-answered", step, callId, tool, questionId, status, by });
    await durable.steps.record(`told ${key}`, true);
  }
  return decision;
}

/** Asked by the tool `ask_user`. */
export async function askUserDurably(
  { question, options }: UserQuestion,
  call: { readonly callId: string; readonly signal: AbortSignal },
  durable: DurableRunParts,
): Promise<string | undefined> {
  const key = `question ${callName(durable, call.callId)}`;
  const body = { question, options: [...options] };
  const asked = await askOnce(durable, { key, kind: "question", body }, () => undefined);
  if (asked.status === "pending") {
    await durable.parking.wait(call.callId, call.signal);
    return undefined;
  }
  const { answer } = asked;
  return answer === undefined || typeof answer === "string" ? answer : JSON.stringify(answer);
}

/** `tell` is called for a new question, so that its event and its row are written together. */
export async function askOnce(
  { steps, asking }: DurableRunParts,
  question: { readonly key: string; readonly kind: Question["kind"]; readonly body: JsonObject },
  tell: (questionId: string) => void,
): Promise<Question> {
  const expiresAt = asking.waitMs === undefined ? undefined : Date.now() + asking.waitMs;
  return steps.ask({ ...question, expiresAt }, tell);
}

/** What an answer means for the request. */
export function explainAnswer({ status, answer, answeredBy }: Question): DurableApproval {
  const { note, input } = isAnswer(answer) ? answer : {};
  const who = answeredBy ?? "somebody";
  const said = note === undefined ? "" : `: ${note}`;
  if (status === "approved") return { approved: true, rule: `approved by ${who}${said}`, input };
  if (status === "denied") return { approved: false, rule: `${who} declined${said}` };
  if (status === "expired") return { approved: false, rule: "nobody answered in time" };
  return { approved: false, rule: "the question was withdrawn" };
}

function isAnswer(value: Json | undefined): value is { readonly note?: string; readonly input?: ToolInput } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

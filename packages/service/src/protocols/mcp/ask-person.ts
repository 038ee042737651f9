/** Turns a run's approvals and questions into what an MCP client asks its user, and the answers into the API's form. */
import type { JsonObject, JsonSchema } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { HostCall, HostQuestion } from "@metier/runtime/mcp";
import type { HttpRefusal } from "../../http/refusal.ts";
import type { Identity } from "../../keys/identity.ts";
import { holdsScope } from "../../keys/scopes.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import type { Pending } from "../follow.ts";

const APPROVAL: JsonSchema = {
  type: "object",
  properties: {
    approve: { type: "boolean", title: "Approve", description: "Whether the call may be made." },
    note: { type: "string", title: "Note", description: "Why, for the model and the log." },
  },
  required: ["approve"],
};

/** Only what this key may answer. An approval that is too large to be shown in full isn't asked here. */
export function askPerson(
  { scopes }: Pick<Identity, "scopes">,
  { approvals, questions }: Pending,
): readonly HostQuestion[] {
  const mayApprove = holdsScope(scopes, "approve");
  const shown = approvals.filter(({ isCut }) => mayApprove && isCut !== true);
  return [
    ...shown.map((one) => ({ id: String(one.id), message: describeCall(one), schema: APPROVAL })),
    ...questions.map((one) => ({
      id: String(one.id),
      message: String(one.question),
      schema: answerSchema(one),
    })),
  ];
}

function answerSchema({ options }: JsonObject): JsonSchema {
  const choices = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
  const answer = { type: "string", title: "Answer", ...(choices.length > 0 && { enum: choices }) };
  return { type: "object", properties: { answer }, required: ["answer"] };
}

function describeCall({ tool, skill, input, rule, description }: JsonObject): string {
  const what = typeof description === "string" ? ` (${description})` : "";
  return `${skill ?? "The run"} wants to call ${tool}${what}: ${JSON.stringify(input ?? {})}. Asked because: ${rule ?? "it is not read-only"}.`;
}

export function describeAsked({ approvals, questions }: Pending): string {
  const lines = [
    ...approvals.map((one) => `- approval ${one.id}: ${describeCall(one)}`),
    ...questions.map(({ id, question }) => `- question ${id}: ${question}`),
  ];
  return lines.join("\n");
}

/** `left`: the person didn't want to decide now. */
export async function answerAsked(
  asking: InnerRequest,
  context: ServiceContext,
  call: HostCall,
  { approvals, questions }: Pending,
): Promise<Result<"given" | "left", HttpRefusal>> {
  const ids = (list: readonly JsonObject[]): readonly string[] => list.map(({ id }) => String(id));
  const given = [
    ...ids(approvals).map((id) => [id, readDecision(call.answer(id)), "POST /v1/approvals/{id}"] as const),
    ...ids(questions).map((id) => [id, readWords(call.answer(id)), "POST /v1/questions/{id}"] as const),
  ];
  for (const [id, body, route] of given) {
    if (body === undefined || body === "left") continue;
    const answered = await askRoute(route, asking, context, { params: { id }, body });
    if (!answered.ok) return answered;
  }
  return done(given.some(([, body]) => body === "left") ? "left" : "given");
}

type Given = ReturnType<HostCall["answer"]>;

function readDecision(given: Given): JsonObject | "left" | undefined {
  if (given === undefined) return undefined;
  if (given.action === "cancel") return "left";
  const { approve, note } = given.content;
  const decision = given.action === "accept" && approve === true ? "approve" : "deny";
  return { decision, ...(typeof note === "string" && note !== "" && { note }) };
}

function readWords(given: Given): JsonObject | "left" | undefined {
  if (given === undefined) return undefined;
  return given.action === "accept" ? { answer: String(given.content.answer ?? "") } : "left";
}

/**
 * Runs as MCP tools. The client asks its user what a run asks a person (elicitation); a model is never asked to
 * approve.
 */
import { checkJson, isJsonObject, type JsonObject, type JsonSchema } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import type { HostCall, HostOutcome, HostTool } from "@metier/runtime/mcp";
import type { HttpRefusal } from "../../http/refusal.ts";
import { findRun } from "../../routes/find-run.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { readPending } from "../follow.ts";
import { pendingOf, tellRun } from "../run-news.ts";
import { answerAsked, askPerson, describeAsked } from "./ask-person.ts";

const TEXT = { type: "string" } as const;

const RUN_SKILL: JsonSchema = {
  type: "object",
  properties: {
    skill: { ...TEXT, description: "The name of the skill." },
    message: { ...TEXT, description: "The task, in words." },
    arguments: { ...TEXT, description: "Arguments as on a command line." },
    input: { type: "object", description: "Input for a skill that has an input schema." },
    agent: { ...TEXT, description: "`name` or `name@version` of an agent of the service." },
  },
  required: ["skill"],
  additionalProperties: false,
};
const ONE_RUN: JsonSchema = {
  type: "object",
  properties: { run: { ...TEXT, description: "The id of the run." } },
  required: ["run"],
  additionalProperties: false,
};
const LIST: JsonSchema = {
  type: "object",
  properties: {
    status: { ...TEXT, description: "One or more statuses with commas between, such as `running,waiting`." },
    skill: TEXT,
    after: { ...TEXT, description: "`next` of the page before." },
    limit: { type: "integer", minimum: 1, maximum: 100 },
  },
  additionalProperties: false,
};
const RUNS_SHOWN = 20;

type Ask = Omit<InnerRequest, "signal">;

export function runTools(ask: Ask, context: ServiceContext): readonly HostTool[] {
  const asking = ({ signal }: HostCall): InnerRequest => ({ ...ask, signal });
  const tools: readonly HostTool[] = [
    {
      name: "run_skill",
      description:
        "Run a skill on the server, in a sandbox, and wait for its result. If the call breaks, the run continues; `follow_run` waits for it again.",
      inputSchema: RUN_SKILL,
      isReadOnly: false,
      async call(input, call) {
        if (call.state !== undefined) return resume(asking(call), context, call, call.state);
        const started = await askRoute("POST /v1/runs", asking(call), context, { body: input });
        if (!started.ok) return refusedBy(started.refusal);
        call.say(`Run ${started.value.id} started`);
        return follow(asking(call), context, call, String(started.value.id));
      },
    },
    {
      name: "follow_run",
      description: "Wait for the result of a run that was started before.",
      inputSchema: ONE_RUN,
      isReadOnly: true,
      call: ({ run }, call) => resume(asking(call), context, call, String(run)),
    },
    {
      name: "cancel_run",
      description: "Cancel a run. What it has done stays.",
      inputSchema: ONE_RUN,
      isReadOnly: false,
      async call({ run }, call) {
        const params = { id: String(run) };
        return answerWith(await askRoute("POST /v1/runs/{id}/cancel", asking(call), context, { params }));
      },
    },
    {
      name: "list_runs",
      description: "List runs, newest first.",
      inputSchema: LIST,
      isReadOnly: true,
      async call({ status, skill, after, limit = RUNS_SHOWN }, call) {
        const given = Object.entries({ status, skill, after, limit }).map(([name, value]) => [
          name,
          value === undefined ? undefined : String(value),
        ]);
        return answerWith(
          await askRoute("GET /v1/runs", asking(call), context, { query: Object.fromEntries(given) }),
        );
      },
    },
  ];
  return tools.map(heldToSchema);
}

/** Only what a tool declares reaches the API: with `approve`, a model could approve its own calls. */
function heldToSchema(tool: HostTool): HostTool {
  return {
    ...tool,
    async call(input, call) {
      const checked = await checkJson(tool.inputSchema, input);
      if (checked.ok) return tool.call(input, call);
      const hint = `See the input schema of \`${tool.name}\`.`;
      return refusedBy({ code: "bad_input", message: checked.message, hint });
    },
  };
}

/** First passes on what the person has answered in the meantime. */
async function resume(
  asking: InnerRequest,
  context: ServiceContext,
  call: HostCall,
  runId: string,
): Promise<HostOutcome> {
  const run = await findRun(context, asking.identity, runId);
  if (!run.ok) return refusedBy(run.refusal);
  // Also while a worker takes the run up again, such as after a restart: its questions stay open.
  const pending = await readPending(asking, context, run.value.rootId);
  const answered = await answerAsked(asking, context, call, pending);
  if (!answered.ok) return refusedBy(answered.refusal);
  return answered.value === "left"
    ? tellWaiting(asking, context, runId)
    : follow(asking, context, call, runId);
}

async function follow(
  asking: InnerRequest,
  context: ServiceContext,
  call: HostCall,
  runId: string,
): Promise<HostOutcome> {
  const run = await findRun(context, asking.identity, runId);
  if (!run.ok) return refusedBy(run.refusal);
  const signal = AbortSignal.any([asking.signal, context.stopping]);
  const mayGoOn = (): Promise<boolean> => context.keys.stillActs(asking.identity, context.now());
  for await (const news of tellRun(asking, context, run.value, { signal, mayGoOn })) {
    if (news.kind === "event") sayEvent(news.event, call);
    if (news.kind === "ended") return showEnd(news.run);
    if (news.kind === "waiting") {
      const questions = call.canAsk ? askPerson(asking.identity, news.asked) : [];
      if (questions.length > 0) return { kind: "ask", questions, state: runId };
      return tellWaiting(asking, context, runId);
    }
  }
  const text = `Run ${runId} continues on the server. Call \`follow_run\` to wait for it.`;
  return { kind: "answer", text, isError: true };
}

function sayEvent({ type, tool, decision, skill, step }: JsonObject, { say }: HostCall): void {
  if (type === "run-started") say(`${skill}: started`);
  if (type === "tool-called") say(decision === "deny" ? `${tool}: denied` : String(tool));
  if (type === "approval-asked") say(`${tool}: waits for approval`);
  if (type === "model-answered") say(`step ${step}: answered`);
}

function showEnd({ id, status, text, error, object, usage }: JsonObject): HostOutcome {
  const said = typeof text === "string" ? text : "";
  const fault = isJsonObject(error) && typeof error.message === "string" ? error.message : "";
  const isError = status !== "completed";
  const lines = isError ? [`The run ended as ${status}.`, fault, said] : [said];
  const shown = { run: id ?? "", status: status ?? "", text: said };
  return {
    kind: "answer",
    text: lines.filter((line) => line !== "").join("\n\n"),
    object: { ...shown, ...(object !== undefined && { object }), ...(usage !== undefined && { usage }) },
    isError,
  };
}

async function tellWaiting(
  asking: InnerRequest,
  context: ServiceContext,
  runId: string,
): Promise<HostOutcome> {
  const asked = await pendingOf(asking, context, { id: runId, rootId: runId });
  const text = `Run ${runId} waits for a person:\n${describeAsked(asked)}\n\nAfter they have answered in Metier, call \`follow_run\`.`;
  const approvals = asked.approvals.map(({ id, tool, input }) => ({ id, tool, input }) as JsonObject);
  const questions = asked.questions.map(({ id, question }) => ({ id, question }) as JsonObject);
  return { kind: "answer", text, object: { run: runId, status: "waiting", approvals, questions } };
}

function answerWith(outcome: Result<JsonObject, HttpRefusal>): HostOutcome {
  if (!outcome.ok) return refusedBy(outcome.refusal);
  return { kind: "answer", text: JSON.stringify(outcome.value), object: outcome.value };
}

function refusedBy({ code, message, hint }: Pick<HttpRefusal, "code" | "message" | "hint">): HostOutcome {
  return {
    kind: "answer",
    text: `${message} ${hint}`,
    object: { error: { code, message, hint } },
    isError: true,
  };
}

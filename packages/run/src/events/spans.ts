/**
 * OpenTelemetry spans of a run, for programs that registered an SDK: one for the run, below it one per model answer and
 * tool call. Only numbers and names, no texts. Without an SDK, nothing is loaded.
 */
import { presentFields } from "@metier/base/json";
import { VERSION } from "@metier/base/places";
import type { AttributeValue, Context, Span, SpanOptions, TracerProvider } from "@opentelemetry/api";
import type { RunEvent } from "./run-event.ts";
import type { RunSink } from "./run-recorder.ts";

/**
 * Where every copy of the API stores what was registered. Read directly, because a copy rejects what an older one
 * registered, and the program's copy may be older than ours.
 */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");

interface Registered {
  readonly trace?: TracerProvider;
  readonly context?: { active(): Context };
}

type Api = typeof import("@opentelemetry/api");
type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;
type Attributes = Readonly<Record<string, AttributeValue>>;

/** For a run and the runs it starts; `undefined` if no SDK is registered. */
export async function createSpanSink(): Promise<RunSink | undefined> {
  const { trace: provider, context } = (globalThis as { [REGISTRY]?: Registered })[REGISTRY] ?? {};
  if (provider === undefined) return undefined;
  const api = await import("@opentelemetry/api");
  const tracer = provider.getTracer("metier", VERSION);
  const outside = context?.active() ?? api.ROOT_CONTEXT;
  const open = new OpenSpans((name, options, parent) => {
    const within = parent ? api.trace.setSpan(api.ROOT_CONTEXT, parent) : outside;
    return tracer.startSpan(name, options, within);
  }, api);
  return { name: "tracing", write: (event) => open.add(event), close: () => open.endAll() };
}

type StartSpan = (name: string, options: SpanOptions, parent: Span | undefined) => Span;

class OpenSpans {
  readonly #start: StartSpan;
  readonly #api: Api;
  readonly #spans = new Map<string, Span>();
  /** By run. */
  readonly #models = new Map<string, string>();

  constructor(start: StartSpan, api: Api) {
    this.#start = start;
    this.#api = api;
  }

  /** Other events have no duration and are in the log. */
  add(event: RunEvent): void {
    if (event.type === "run-started") this.#beginRun(event);
    else if (event.type === "run-resumed") this.#resumeRun(event);
    else if (event.type === "model-called") this.#beginStep(event);
    else if (event.type === "model-answered") this.#endStep(event);
    else if (event.type === "tool-called") this.#beginCall(event);
    else if (event.type === "tool-finished") this.#endCall(event);
    else if (event.type === "hook-finished") this.#addHook(event);
    else if (event.type === "capability-called") this.#addCapability(event);
    else if (event.type === "run-finished") this.#endRun(event);
  }

  endAll(): void {
    for (const span of this.#spans.values()) span.end();
    this.#spans.clear();
  }

  #beginRun(event: Of<"run-started">): void {
    const { runId, skill, model, parentRunId = "" } = event;
    const attributes: Attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": skill,
      "gen_ai.request.model": model,
      "metier.run.id": runId,
      "metier.skill.trust": event.trust,
      "metier.run.source": event.source,
    };
    this.#models.set(runId, model);
    this.#begin(event, runId, `invoke_agent ${skill}`, { attributes }, parentRunId);
  }

  /** Each process that works on a run has a span for its part. */
  #resumeRun(event: Of<"run-resumed">): void {
    const { runId, skill, model } = event;
    const attributes: Attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": skill,
      "gen_ai.request.model": model,
      "metier.run.id": runId,
      "metier.run.resumed": true,
    };
    this.#models.set(runId, model);
    this.#begin(event, runId, `invoke_agent ${skill}`, { attributes }, "");
  }

  #begin(event: RunEvent, key: string, name: string, options: SpanOptions, parent = event.runId): void {
    const startTime = Date.parse(event.at);
    this.#spans.set(key, this.#start(name, { ...options, startTime }, this.#spans.get(parent)));
  }

  #beginStep(event: Of<"model-called">): void {
    const model = this.#models.get(event.runId) ?? "";
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": model };
    const kind = this.#api.SpanKind.CLIENT;
    this.#begin(event, stepKey(event), `chat ${model}`, { attributes, kind });
  }

  #beginCall(event: Of<"tool-called">): void {
    const { tool, callId, decision } = event;
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": callId,
      "metier.tool.decision": decision,
    };
    this.#begin(event, callKey(event), `execute_tool ${tool}`, { attributes });
  }

  #endCall(event: Of<"tool-finished">): void {
    this.#end(callKey(event), event.at, {}, event.isError ? "The tool failed." : undefined);
  }

  #addHook(event: Of<"hook-finished">): void {
    const { hook, outcome, tool } = event;
    const attributes = presentFields({ "metier.hook.outcome": outcome, "gen_ai.tool.name": tool });
    this.#addEnded(event, `hook ${hook}`, attributes, outcome === "fault" ? "The hook failed." : undefined);
  }

  #addCapability(event: Of<"capability-called">): void {
    const { capability, operation, outcome } = event;
    const attributes = presentFields({
      "metier.capability.id": capability,
      "metier.capability.operation": operation,
      "metier.capability.mutating": event.mutating,
      "metier.capability.outcome": outcome,
      "metier.capability.request.id": event.requestId,
    });
    const isDone = outcome === "ok" || outcome === "repeat";
    const name = `capability ${[capability, operation].join(" ").trim()}`;
    this.#addEnded(event, name, attributes, isDone ? undefined : outcome);
  }

  /** For something known only when it is over. */
  #addEnded(
    { runId, at, durationMs }: Of<"hook-finished" | "capability-called">,
    name: string,
    attributes: Attributes,
    fault: string | undefined,
  ): void {
    const options = { attributes, startTime: Date.parse(at) - durationMs };
    this.#endSpan(this.#start(name, options, this.#spans.get(runId)), at, fault);
  }

  #endStep(event: Of<"model-answered">): void {
    const { usage, finishReason, at } = event;
    this.#end(stepKey(event), at, {
      "gen_ai.response.finish_reasons": [finishReason],
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
    });
  }

  #endRun({ runId, status, iterations, usage, at, error }: Of<"run-finished">): void {
    // A step or call that was cut off by the run's end ends with it.
    for (const key of [...this.#spans.keys()]) if (key.startsWith(`${runId} `)) this.#end(key, at, {});
    const attributes = presentFields({
      "metier.run.status": status,
      "metier.run.iterations": iterations,
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "error.type": error?.code,
    });
    this.#end(runId, at, attributes, status === "failed" ? (error?.code ?? "failed") : undefined);
  }

  #end(key: string, at: string, attributes: Attributes, fault?: string): void {
    const span = this.#spans.get(key);
    if (span === undefined) return;
    span.setAttributes(attributes);
    this.#endSpan(span, at, fault);
    this.#spans.delete(key);
  }

  #endSpan(span: Span, at: string, fault: string | undefined): void {
    if (fault !== undefined) span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: fault });
    span.end(Date.parse(at));
  }
}

function stepKey({ runId, step }: { readonly runId: string; readonly step: number }): string {
  return `${runId} step ${step}`;
}

function callKey({ runId, callId }: { readonly runId: string; readonly callId: string }): string {
  return `${runId} call ${callId}`;
}

/**
 * OpenTelemetry spans of a run, for programs that have registered an SDK: one for the run, below it one for each answer of
 * the model and each tool call. Numbers and names only, no texts. Without an SDK nothing is even loaded.
 */
import type { AttributeValue, Context, Span, SpanOptions, TracerProvider } from "@opentelemetry/api";
import { VERSION } from "../foundation/version.ts";
import type { RunEvent } from "./run-event.ts";
import type { RunSink } from "./run-recorder.ts";

/**
 * Where every copy of the API keeps what was registered. It is taken from here because a copy refuses what an older one
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

/** For a run and the runs it starts; `undefined` when no SDK is registered. */
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
  return {
    name: "tracing",
    write: (event) => open.add(event),
    close: () => open.endAll(),
  };
}

type StartSpan = (name: string, options: SpanOptions, parent: Span | undefined) => Span;

/** Of something that is known only when it is over. */
interface EndedSpan {
  readonly runId: string;
  readonly at: string;
  readonly durationMs: number;
  readonly attributes: Attributes;
  readonly fault: string | undefined;
}

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

  add(event: RunEvent): void {
    switch (event.type) {
      case "run-started":
        this.#beginRun(event);
        break;
      case "model-called":
        this.#beginStep(event);
        break;
      case "model-answered":
        this.#endStep(event);
        break;
      case "tool-called":
        this.#beginCall(event);
        break;
      case "tool-finished":
        this.#end(callKey(event), event.at, {}, event.isError ? "The tool failed." : undefined);
        break;
      case "hook-finished":
        this.#addHook(event);
        break;
      case "capability-called":
        this.#addCapability(event);
        break;
      case "run-finished":
        this.#endRun(event);
        break;
      default: // What else happens has no duration and is in the log.
    }
  }

  endAll(): void {
    for (const span of this.#spans.values()) span.end();
    this.#spans.clear();
  }

  #beginRun(event: Of<"run-started">): void {
    const parent = this.#spans.get(event.parentRunId ?? "");
    const attributes: Attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": event.skill,
      "gen_ai.request.model": event.model,
      "metier.run.id": event.runId,
      "metier.skill.trust": event.trust,
      "metier.run.source": event.source,
    };
    const options = { attributes, startTime: Date.parse(event.at) };
    this.#models.set(event.runId, event.model);
    this.#spans.set(event.runId, this.#start(`invoke_agent ${event.skill}`, options, parent));
  }

  #begin({ runId, at }: RunEvent, key: string, name: string, attributes: Attributes, kind?: "CLIENT"): void {
    const options: SpanOptions = {
      attributes,
      startTime: Date.parse(at),
      ...(kind && { kind: this.#api.SpanKind[kind] }),
    };
    this.#spans.set(key, this.#start(name, options, this.#spans.get(runId)));
  }

  #beginStep(event: Of<"model-called">): void {
    const model = this.#models.get(event.runId) ?? "";
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": model };
    this.#begin(event, stepKey(event), `chat ${model}`, attributes, "CLIENT");
  }

  #beginCall(event: Of<"tool-called">): void {
    const { tool, callId, decision } = event;
    this.#begin(event, callKey(event), `execute_tool ${tool}`, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": callId,
      "metier.tool.decision": decision,
    });
  }

  #addHook(event: Of<"hook-finished">): void {
    const { runId, hook, outcome, durationMs, tool, at } = event;
    const attributes: Attributes = {
      "metier.hook.outcome": outcome,
      ...(tool !== undefined && { "gen_ai.tool.name": tool }),
    };
    const fault = outcome === "fault" ? "The hook failed." : undefined;
    this.#addEnded(`hook ${hook}`, { runId, at, durationMs, attributes, fault });
  }

  #addCapability(event: Of<"capability-called">): void {
    const { runId, capability, operation, mutating, outcome, requestId, durationMs, at } = event;
    const attributes: Attributes = {
      "metier.capability.id": capability,
      ...(operation !== undefined && { "metier.capability.operation": operation }),
      "metier.capability.mutating": mutating,
      "metier.capability.outcome": outcome,
      "metier.capability.request.id": requestId,
    };
    const isDone = outcome === "ok" || outcome === "repeat";
    const fault = isDone ? undefined : outcome;
    this.#addEnded(`capability ${[capability, operation].join(" ").trim()}`, {
      runId,
      at,
      durationMs,
      attributes,
      fault,
    });
  }

  #addEnded(name: string, { runId, at, durationMs, attributes, fault }: EndedSpan): void {
    const options = { attributes, startTime: Date.parse(at) - durationMs };
    const span = this.#start(name, options, this.#spans.get(runId));
    if (fault !== undefined) span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: fault });
    span.end(Date.parse(at));
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
    // A step or call that the run's end cut off ends with it.
    for (const key of [...this.#spans.keys()]) if (key.startsWith(`${runId} `)) this.#end(key, at, {});
    const attributes: Attributes = {
      "metier.run.status": status,
      "metier.run.iterations": iterations,
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      ...(error && { "error.type": error.code }),
    };
    this.#end(runId, at, attributes, status === "failed" ? (error?.code ?? "failed") : undefined);
  }

  #end(key: string, at: string, attributes: Attributes, fault?: string): void {
    const span = this.#spans.get(key);
    if (span === undefined) return;
    span.setAttributes(attributes);
    if (fault !== undefined) span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: fault });
    span.end(Date.parse(at));
    this.#spans.delete(key);
  }
}

function stepKey({ runId, step }: { readonly runId: string; readonly step: number }): string {
  return `${runId} step ${step}`;
}

function callKey({ runId, callId }: { readonly runId: string; readonly callId: string }): string {
  return `${runId} call ${callId}`;
}

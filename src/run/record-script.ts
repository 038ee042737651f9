/** A script in the log: a run without a model, whose only call is the script. */
import type { CapabilityUse } from "../events/run-event.ts";
import type { RunRecorder } from "../events/run-recorder.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { World } from "../sandbox/world.ts";
import type { Redactor } from "../secrets/redaction.ts";
import { NO_USAGE } from "./budget.ts";
import type { CapabilityCall } from "./capability-notes.ts";
import type { ScriptEnding } from "./script-ending.ts";
import type { ScriptRequest } from "./script-result.ts";

const CALL = { step: 1, callId: "script", tool: "run_script" } as const;

export interface StartedScript {
  readonly request: Pick<ScriptRequest, "script" | "args">;
  readonly prepared: PreparedInvocation;
  readonly world: World;
  readonly redactor: Redactor;
}

export function recordStart(
  recorder: RunRecorder,
  { request: { script, args = [] }, prepared, world, redactor }: StartedScript,
): void {
  const { skill, trust, source, env } = prepared;
  recorder.emit({
    type: "run-started",
    skill: skill.name,
    source,
    location: skill.location,
    trust: trust.level,
    model: "none",
    depth: 0,
    tools: [CALL.tool],
    workDir: world.workDir,
    ...(world.skillDir !== undefined && { skillDir: world.skillDir }),
    cwd: world.cwd,
    env: Object.keys(env).sort(),
  });
  const input = redactor.redactJson({ script, args: [...args] });
  const rule = `asked for by ${source === "user" ? "the user" : "the program"}`;
  recorder.emit({ type: "tool-called", ...CALL, input, decision: "allow", rule });
}

export function recordCapability(recorder: RunRecorder, call: CapabilityCall): void {
  recorder.emit({ type: "capability-called", step: CALL.step, ...call });
}

export interface EndedScript extends ScriptEnding {
  /** As a model would be told. */
  readonly told: string;
  readonly stdout: string;
  readonly durationMs: number;
  readonly capabilities?: readonly CapabilityUse[];
}

export function recordEnd(
  recorder: RunRecorder,
  { status, error, told, stdout, durationMs, capabilities }: EndedScript,
): void {
  const isError = status !== "completed";
  recorder.emit({ type: "tool-finished", ...CALL, text: told, isError, durationMs });
  recorder.emit({
    type: "run-finished",
    status,
    text: stdout,
    iterations: 0,
    usage: NO_USAGE,
    durationMs,
    ...(status === "limited" && { limit: "time" }),
    ...(error && { error }),
    ...(capabilities && { capabilities }),
  });
}

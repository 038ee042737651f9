/**
 * Runs a run's hooks: commands of its skill, in its sandbox, before and after its tool calls and at its end. A hook
 * that can't run before a call blocks it; afterwards, the error is reported. Never throws.
 */
import { join } from "node:path";
import { presentFields } from "@metier/base/json";
import type { HookEvent } from "@metier/skills";
import { beginActing, isInDoubt } from "../../durable/acting-call.ts";
import type { ToolContext, ToolOutput } from "../../tools/tool.ts";
import { type LiveRun, reportOnce, toolContext } from "../live-run.ts";
import type { LoopOutcome } from "../loop.ts";
import type { RunContext } from "../run-context.ts";
import { filterOutput } from "../use-skill.ts";
import {
  failed,
  type HookSubject,
  type HookVerdict,
  hookInput,
  type RunHook,
  readVerdict,
} from "./skill-hooks.ts";

/** A call as the model made it, without secrets. */
export interface HookedCall extends Required<Pick<HookSubject, "tool" | "callId" | "input">>, HookScene {}

interface HookScene {
  readonly step: number;
  readonly context: ToolContext;
}

const MAX_OUTPUT_BYTES = 256 * 1024;
/** How often the hooks at the end may send the model back to work. */
const MOST_TIMES = 3;

/** Why a call isn't carried out; `undefined`: it is. */
export async function beforeTool(call: HookedCall, live: LiveRun): Promise<string | undefined> {
  const { tool, callId, input } = call;
  for (const hook of hooksFor(live, "pre-tool", tool)) {
    const verdict = await ask(hook, { tool, callId, input }, call, live);
    if (verdict.outcome === "allow") continue;
    const what = verdict.outcome === "block" ? "blocked it" : "could not be run";
    return `a \`pre-tool\` hook ${what}: ${verdict.reason}`;
  }
  return undefined;
}

/** `blocked`: why the result is withheld from the model. `notes`: what it is told in addition. */
export async function afterTool(
  call: HookedCall,
  output: ToolOutput,
  live: LiveRun,
): Promise<{ readonly blocked?: string; readonly notes: readonly string[] }> {
  const { tool, callId, input } = call;
  const notes: string[] = [];
  for (const hook of hooksFor(live, "post-tool", tool)) {
    const verdict = await ask(hook, { tool, callId, input, output }, call, live);
    if (verdict.outcome === "block") return { blocked: verdict.reason, notes: [] };
    if (verdict.outcome === "allow" && verdict.note !== undefined) notes.push(verdict.note);
  }
  return { notes };
}

/**
 * What the `stop` hooks make of an answer: one that blocks sends the model back to work, with its reason as the next
 * message. Limited by a number of times and by the run's limits.
 */
export async function askStopHooks(
  live: LiveRun,
  outcome: LoopOutcome,
  continued: number,
): Promise<{ readonly goesOn: boolean; readonly outcome: LoopOutcome }> {
  const hooks = hooksFor(live, "stop");
  if (live.context.hooks.length === 0) return { goesOn: false, outcome };
  const reason = await askOnce(live, continued, () => askEach(hooks, live, continued));
  if (live.stop.signal.aborted) return { goesOn: false, outcome: { ...outcome, ended: "stopped" } };
  if (reason === undefined) return { goesOn: false, outcome };
  const why = whyEnd(live, outcome, continued);
  if (why === undefined) {
    const messages = [...outcome.messages, { role: "user" as const, content: reason }];
    return { goesOn: true, outcome: { ...outcome, messages } };
  }
  tell(live, "hook.stop-overruled", `A \`stop\` hook asked the run to continue, but it ends: ${why}.`);
  return { goesOn: false, outcome };
}

interface StopRecord {
  /** Absent: it may end. */
  readonly reason?: string;
  /** The snapshot of the work folder after the hooks. */
  readonly folder?: string;
}

/** In a durable run, the verdict on an answer is recorded and applies in every process. */
async function askOnce(
  live: LiveRun,
  continued: number,
  ask: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const { durable, place } = live.context;
  if (durable === undefined) return ask();
  const { steps } = durable;
  const name = `stop ${live.model.steps} ${continued}`;
  const known = steps.find(name) as StopRecord | undefined;
  if (known !== undefined) return known.reason;
  if (isInDoubt(steps, name)) {
    tell(
      live,
      "hook.failed",
      "The process ended while a `stop` hook was running; the hook was not run again.",
    );
    return undefined;
  }
  durable.acting = beginActing(name);
  const reason = await ask();
  if (live.stop.signal.aborted) return reason; // It was cut off.
  const kept = await steps.keepFolder(place.world.workDir);
  const folder = kept?.ok ? kept.value : undefined;
  await steps.record(name, presentFields({ reason, folder }), folder);
  return reason;
}

/** Why the run should continue, in words for the model; `undefined`: it may end. */
async function askEach(
  hooks: readonly RunHook[],
  live: LiveRun,
  continued: number,
): Promise<string | undefined> {
  const { redactor, outputFilter } = live.context;
  const text = redactor.redact(live.text.value);
  const scene = { step: live.model.steps, context: toolContext(live, "", live.stop.signal) };
  for (const hook of hooks) {
    const verdict = await ask(hook, { output: { text, isError: false }, continued }, scene, live);
    if (verdict.outcome !== "block") continue;
    const said = filterOutput(redactor.redact(verdict.reason), outputFilter);
    return `You are not done: a \`stop\` hook of the skill asks you to go on. ${said}`;
  }
  return undefined;
}

function whyEnd(
  { context, stop }: LiveRun,
  { iterations }: LoopOutcome,
  continued: number,
): string | undefined {
  const { maxIterations } = context.limits;
  if (continued === MOST_TIMES) return `it already continued ${MOST_TIMES} times`;
  if (iterations >= maxIterations) return `it used its ${maxIterations} steps`;
  const reached = stop.reached();
  return reached && `it reached its limit of ${reached.limit}`;
}

function hooksFor({ context: { hooks } }: LiveRun, event: HookEvent, tool?: string): readonly RunHook[] {
  return hooks.filter((hook) => hook.event === event && (tool === undefined || hook.isFor(tool)));
}

async function ask(
  hook: RunHook,
  subject: HookSubject,
  { step, context }: HookScene,
  live: LiveRun,
): Promise<HookVerdict> {
  const startedAt = performance.now();
  const verdict = await askHook(hook, subject, context, live.context);
  const { tool, callId } = subject;
  live.context.recorder.emit({
    type: "hook-finished",
    step,
    hook: hook.event,
    tool,
    callId,
    outcome: verdict.outcome,
    reason: verdict.outcome === "allow" ? undefined : verdict.reason,
    durationMs: Math.round(performance.now() - startedAt),
  });
  if (verdict.outcome === "fault" && hook.event !== "pre-tool") {
    tell(live, "hook.failed", `A \`${hook.event}\` hook could not be run: ${verdict.reason}.`);
  }
  return verdict;
}

/** Each message once, however often it happens. */
function tell(live: LiveRun, code: "hook.failed" | "hook.stop-overruled", text: string): void {
  const message = live.context.redactor.redact(text);
  reportOnce(live, message, code, message);
}

async function askHook(
  hook: RunHook,
  subject: HookSubject,
  { world, sandbox, env, signal }: ToolContext,
  run: RunContext,
): Promise<HookVerdict> {
  if ("fault" in hook) return failed(hook.fault);
  const { command, event, timeoutMs } = hook;
  if (sandbox === undefined) return failed("no sandbox works here; see `metier doctor`");
  if (!sandbox.runsPrograms)
    return failed(`\`${sandbox.backend}\` cannot run programs; see \`metier doctor\``);
  const argv = typeof command === "string" ? ["sh", "-c", command] : locate(command, world.skillDir);
  if (argv === undefined) return failed(`the skill has no folder, so it has no \`${command[0]}\``);
  try {
    const outcome = await sandbox.run({
      argv,
      world,
      cwd: world.skillDir ?? world.workDir,
      env: { ...env, METIER_HOOK: event },
      stdin: hookInput(hook, run, subject, world),
      limits: { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES },
      signal,
    });
    const { stdout, stderr } = outcome; // Redacted before anything is cut, so that no half of a secret remains.
    const { redactor } = run;
    const clean = { ...outcome, stdout: redactor.redact(stdout), stderr: redactor.redact(stderr) };
    return readVerdict(event, clean, timeoutMs);
  } catch (error) {
    return failed(`it could not be started: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A relative path is in the skill's folder; a bare name is looked up inside the sandbox. */
function locate(
  [program = "", ...words]: readonly string[],
  skillDir: string | undefined,
): readonly string[] | undefined {
  if (program.startsWith("/") || !program.includes("/")) return [program, ...words];
  return skillDir === undefined ? undefined : [join(skillDir, program), ...words];
}

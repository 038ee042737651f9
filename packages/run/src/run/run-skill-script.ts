/**
 * Runs one script of a skill without a model: with the checks, world, variables and work folder of a skill's run, and a
 * log like a run's, with the script as its only call.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { CommandOutcome, Sandbox } from "@metier/sandbox";
import type { Config } from "@metier/skills/config";
import type { RunStatus } from "../events/run-event.ts";
import type { RunRecorder } from "../events/run-recorder.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { createOutputPager, type PagedOutput } from "../tools/page-output.ts";
import {
  describeOutcome,
  explainNoSandbox,
  findMissingProgram,
  MAX_OUTPUT_BYTES,
  readJsonOutput,
} from "../tools/run-command.ts";
import { type PreparedScript, prepareScript } from "../tools/scripts/run-script.ts";
import { createToolPolicy } from "../tools/tool-policy.ts";
import { refuseWithoutSocket } from "./capability-preflight.ts";
import { closeRun, dropFolder, setUpRun } from "./carry-out.ts";
import { invokeAnywhere } from "./invoke-skill.ts";
import { listWorkFiles } from "./kept-files.ts";
import { giveRun, openRecorder, type RunContext, type RunGiven } from "./run-context.ts";
import { NO_USAGE } from "./run-limits.ts";
import { openRunPlace } from "./run-place.ts";
import { hideRestricted, keepingOf, type RunHost, type ScriptRequest } from "./run-request.ts";
import { NO_SANDBOX, type ScriptResult } from "./run-result.ts";
import { deliverValues, openRedactor } from "./run-secrets.ts";
import { prepareRequest } from "./run-tools.ts";

export async function runSkillScript(
  request: ScriptRequest,
  given: RunHost,
  runId: string,
): Promise<ScriptResult> {
  const host = hideRestricted(given, request.caller);
  const timeoutMs = chooseTimeout(request, host.config());
  checkWords(request);
  const outcome = await prepareRequest(request, host, { asked: "script" });
  if (!outcome.ok) {
    const { refusal } = outcome;
    return { ...unstarted(runId, request, refusal.skill), status: "refused", refusal };
  }
  const { prepared } = outcome;
  const denied = await findDenial(request, host);
  if (denied !== undefined) {
    const error = { code: "tools.denied", message: denied };
    return { ...unstarted(runId, request, prepared.skill.name), status: "refused", error };
  }
  keepingOf(host).tidy();
  const run = giveRun({ runId, host, request, invoke: invokeAnywhere });
  const setUp = await setUpRun(run, () => decideScript({ run, request, prepared, timeoutMs }));
  if (!setUp.ok) return setUp.refusal;
  try {
    return await execute(setUp.value);
  } finally {
    await closeRun(run);
    dropFolder(run);
  }
}

/** Requesting a script approves it; what the config denies stays denied. */
async function findDenial({ script, skill }: ScriptRequest, host: RunHost): Promise<string | undefined> {
  const { tools, policyTools } = host.config();
  const policy = createToolPolicy({
    lists: [],
    config: tools,
    policy: policyTools,
    cwd: host.cwd ?? host.base,
  });
  const { answer, rule } = await policy.decide("run_script", "execute", { skill, script });
  return answer === "deny" ? `Scripts are not run: ${rule}.` : undefined;
}

interface ScriptOrder {
  readonly run: RunGiven;
  readonly request: ScriptRequest;
  readonly prepared: PreparedInvocation;
  readonly timeoutMs: number;
}

type PlacedScript = ScriptOrder & Pick<RunContext, "place" | "redactor">;

/** The caller's value, within what the policy allows. */
function chooseTimeout({ timeoutMs }: ScriptRequest, config: Config): number {
  const wanted = timeoutMs ?? config.skills.scriptTimeoutMs;
  // A JavaScript program may pass anything, and a limit that isn't a number is never reached.
  if (!(wanted > 0))
    throw new UsageError(`The limit \`timeoutMs\` is \`${wanted}\`; it must be a number above 0.`);
  return Math.min(wanted, config.policyScriptTimeoutMs ?? wanted);
}

/** A JavaScript program may pass anything, whatever the types say. */
function checkWords({ script, args = [] }: ScriptRequest): void {
  const wrong = [script, ...args].filter((word) => typeof word !== "string");
  if (wrong.length === 0) return;
  throw new UsageError(`\`script\` and each of \`args\` must be a string, not ${showValue(wrong[0])}.`);
}

interface ReadyScript extends PlacedScript, PreparedScript {
  readonly sandbox: Sandbox;
}

/** Everything before it starts, or the outcome instead. */
async function decideScript(order: ScriptOrder): Promise<Result<ReadyScript, ScriptResult>> {
  const { run, request, prepared, timeoutMs } = order;
  const { skill, trust } = prepared;
  const redactor = openRedactor(prepared, run);
  const place = await openRunPlace({ ...run, skill, trust: trust.level, redactor });
  run.opened.push(place);
  const placed = { ...order, place, redactor };
  const refusal = refuseWithoutSocket(skill, place.sandbox);
  if (refusal) return refused({ ...describeSkill(placed), status: "refused", refusal });
  const fail = (code: string, message: string): Result<ReadyScript, ScriptResult> =>
    refused({ ...describeSkill(placed), status: "failed", error: { code, message } });
  const { sandbox, world } = place;
  if (!sandbox) return fail("sandbox.unavailable", (await explainNoSandbox()).text);
  const { signal } = request;
  const env = deliverValues(prepared);
  const script = await prepareScript(request, { sandbox, world, env, timeoutMs, signal });
  if (script.ok) return done({ ...placed, ...script.value, sandbox });
  const { reason, message } = script.refusal;
  return fail(reason === "program" ? "program.missing" : `script.${reason}`, message);
}

async function execute(ready: ReadyScript): Promise<ScriptResult> {
  const { run, request, place, timeoutMs, redactor } = ready;
  const { capabilityNotes } = run;
  const recorder = await openRecorder(run, redactor);
  recordStart(recorder, ready);
  capabilityNotes.listen({
    onCall: (call) =>
      recorder.emit({ type: "capability-called", step: CALL.step, ...redactor.redactJson(call) }),
    onFault: (message) => recorder.emit({ type: "diagnostic", code: "capability.failed", message }),
  });
  const pager = pageOutput(ready);
  const outcome = await ready.sandbox.run({
    ...ready.command,
    signal: request.signal,
    onOutput: (stream, chunk) => pager.take(stream, chunk),
  });
  const output = pager.end();
  await capabilityNotes.end();
  const ending = describeEnding(outcome, ready);
  const { status } = ending;
  const { durationMs, ended, exitCode } = outcome;
  const stdout = output.stdout.head;
  const noted = redactor.redactJson(capabilityNotes.list());
  const capabilities = noted.length > 0 ? noted : undefined;
  const text = describeOutcome(outcome, output, { timeoutMs, moreTime: MORE_TIME }); // As a model would be told.
  recorder.emit({ type: "tool-finished", ...CALL, text, isError: status !== "completed", durationMs });
  recorder.emit({
    type: "run-finished",
    status,
    text: stdout,
    iterations: 0,
    usage: NO_USAGE,
    durationMs,
    limit: status === "limited" ? "time" : undefined,
    error: ending.error,
    capabilities,
  });
  await recorder.close();
  const left = listWorkFiles(place.world.workDir);
  const described = describeSkill(ready);
  return presentFields({
    ...described,
    ...ending,
    ended,
    exitCode,
    stdout,
    stderr: output.stderr.head,
    json: readJsonOutput(stdout),
    durationMs,
    files: left.files,
    capabilities,
    diagnostics: [
      ...described.diagnostics,
      ...redactor.diagnostics,
      ...reportLong(output, place.world.workDir),
      ...left.diagnostics,
      ...recorder.diagnostics,
    ],
  });
}

function pageOutput({ run, request, place, redactor }: ReadyScript): ReturnType<typeof createOutputPager> {
  return createOutputPager({
    world: place.world,
    callId: CALL.callId,
    maxCharacters: MAX_OUTPUT_BYTES,
    redactStream: () => redactor.stream(),
    onText: (stream, text) => run.callbacks.tell("onOutput", request.onOutput, stream, text),
  });
}

function reportLong({ notes }: PagedOutput, path: string): readonly Diagnostic[] {
  if (notes.length === 0) return [];
  return [{ code: "script.output-long", severity: "info", path, message: notes.join(" ") }];
}

type Unstarted = Omit<ScriptResult, "status">;

function unstarted(runId: string, { script }: ScriptRequest, skill: string): Unstarted {
  return {
    runId,
    skill,
    script,
    ended: "refused",
    stdout: "",
    stderr: "",
    durationMs: 0,
    trust: "untrusted",
    files: [],
    sandbox: NO_SANDBOX,
    diagnostics: [],
  };
}

function describeSkill({ run, request, prepared, place }: PlacedScript): Unstarted {
  return {
    ...unstarted(run.runId, request, prepared.skill.name),
    trust: prepared.trust.level,
    sandbox: {
      backend: place.sandbox?.backend ?? "absent",
      declared: place.declared,
      granted: place.granted,
      used: { ...NO_SANDBOX.used, network: [...place.reached].sort() },
    },
    diagnostics: [...prepared.diagnostics, ...place.diagnostics],
  };
}

const MORE_TIME = "Allow more time with `skills.script-timeout-ms` in your config, or `--timeout`.";

type ScriptEnding = Pick<ScriptResult, "status" | "error">;

/** How a script ended, as a run's status, with what to do if it failed. */
function describeEnding(
  outcome: CommandOutcome,
  { request: { script }, timeoutMs, sandbox, explainMissing }: ReadyScript,
): ScriptEnding {
  const { ended, exitCode, signal, reason } = outcome;
  const missing = findMissingProgram(outcome, sandbox);
  if (missing !== undefined) return fail("program.missing", explainMissing(missing));
  switch (ended) {
    case "exited":
      if (exitCode === 0) return { status: "completed" };
      return fail("script.failed", `\`${script}\` exited with code ${exitCode}.`);
    case "signalled":
      return fail("script.failed", `\`${script}\` was killed by ${signal}.`);
    case "timeout":
      return stop(script, `it timed out after ${timeoutMs / 1000} s. ${MORE_TIME}`);
    case "limit":
      return stop(script, String(reason));
    case "cancelled":
      return { status: "cancelled" };
    case "refused":
      return fail("script.failed", `\`${script}\` was not run. ${reason}`);
  }
}

function fail(code: string, message: string, status: RunStatus = "failed"): ScriptEnding {
  return { status, error: { code, message } };
}

function stop(script: string, why: string): ScriptEnding {
  const message = `\`${script}\` was stopped, with every process it started: ${why}`;
  return fail("script.stopped", message, "limited");
}

const CALL = { step: 1, callId: "script", tool: "run_script" } as const;

/** A script in the log: a run without a model, whose only call is the script. */
function recordStart(
  recorder: RunRecorder,
  { request: { script, args = [] }, prepared, place, redactor }: PlacedScript,
): void {
  const { skill, trust, source, env } = prepared;
  const { workDir, skillDir, cwd } = place.world;
  recorder.emit({
    type: "run-started",
    skill: skill.name,
    source,
    location: skill.location,
    trust: trust.level,
    model: "none",
    depth: 0,
    userId: prepared.caller.userId,
    tenantId: prepared.caller.tenantId,
    tools: [CALL.tool],
    workDir,
    skillDir,
    cwd,
    env: Object.keys(env).sort(),
  });
  const input = redactor.redactJson({ script, args: [...args] });
  const rule = `asked for by ${source === "user" ? "the user" : "the program"}`;
  recorder.emit({ type: "tool-called", ...CALL, input, decision: "allow", rule });
}

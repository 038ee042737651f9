/**
 * One script of a skill, without a model: the checks, the world, the variables and the work folder that a run of the
 * skill has, and a log like that of a run, with the script as its only call.
 */
import { mkdirSync, rmSync } from "node:fs";
import type { LoadedConfig } from "../config/config.ts";
import { tidyRuns } from "../events/remove-runs.ts";
import { runFolder } from "../events/run-log.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { UsageError } from "../foundation/errors.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { Redactor } from "../secrets/redaction.ts";
import { explainNoSandbox } from "../tools/bash.ts";
import { readJsonOutput } from "../tools/json-output.ts";
import { createOutputPager, type PagedOutput } from "../tools/page-output.ts";
import { describeOutcome, MAX_OUTPUT_BYTES } from "../tools/run-command.ts";
import { type PreparedScript, prepareScript } from "../tools/scripts/prepare-script.ts";
import { createToolPolicy } from "../tools/tool-policy.ts";
import { showValue } from "../validate/report.ts";
import { createQuestionQueue } from "./approvals.ts";
import { type CapabilityNotes, createCapabilityNotes } from "./capability-notes.ts";
import { refuseWithoutSocket } from "./capability-preflight.ts";
import { deliverValues } from "./deliver-values.ts";
import { hideRestricted } from "./hide-restricted.ts";
import { prepareRequest } from "./invoke-skill.ts";
import { listWorkFiles } from "./list-work-files.ts";
import { openRecorder } from "./open-recorder.ts";
import { openRedactor } from "./open-redactor.ts";
import { recordCapability, recordEnd, recordStart } from "./record-script.ts";
import type { RunHost } from "./run-host.ts";
import { describeEnding, MORE_TIME } from "./script-ending.ts";
import type { ScriptRequest, ScriptResult } from "./script-result.ts";
import { openSkillPlace, type SkillPlace } from "./skill-place.ts";

const NOTHING = { network: [], read: [], write: [] } as const;

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
  tidyRuns(host.places);
  const { folder, work } = runFolder(host.places, runId);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  const { skill, trust } = prepared;
  const redactor = openRedactor({ prepared, request, host });
  const capabilityNotes = createCapabilityNotes();
  const place = await openSkillPlace({
    skill,
    trust: trust.level,
    host,
    run: { runId, redactor, capabilityNotes, questions: createQuestionQueue() },
    workDir: request.workDir ?? work,
    request,
  });
  try {
    const order = { runId, request, host, prepared, place, timeoutMs, redactor, capabilityNotes };
    const refusal = refuseWithoutSocket(skill, place.sandbox);
    if (refusal) {
      rmSync(folder, { recursive: true, force: true });
      return { ...describeSkill(order), status: "refused", refusal };
    }
    const ready = await getReady(order);
    if (ready.ok) return await carryOut(order, ready);
    rmSync(folder, { recursive: true, force: true });
    return { ...describeSkill(order), status: "failed", error: ready.error };
  } finally {
    await place.close();
  }
}

/** Asking for a script is the approval of it; what the config denies stays denied. */
async function findDenial({ script, skill }: ScriptRequest, host: RunHost): Promise<string | undefined> {
  const { tools, policyTools } = host.config().config;
  const policy = createToolPolicy({ lists: [], config: tools, policy: policyTools, cwd: host.cwd });
  const { answer, rule } = await policy.decide("run_script", "execute", { skill, script });
  return answer === "deny" ? `Scripts are not run: ${rule}.` : undefined;
}

interface ScriptOrder {
  readonly runId: string;
  readonly request: ScriptRequest;
  readonly host: RunHost;
  readonly prepared: PreparedInvocation;
  readonly place: SkillPlace;
  readonly timeoutMs: number;
  readonly redactor: Redactor;
  readonly capabilityNotes: CapabilityNotes;
}

/** What the caller asks for, within what the policy allows. */
function chooseTimeout({ timeoutMs }: ScriptRequest, { config }: LoadedConfig): number {
  const wanted = timeoutMs ?? config.skills.scriptTimeoutMs;
  // A program in JavaScript may give anything, and what is no number is never reached.
  if (!(wanted > 0))
    throw new UsageError(`The limit \`timeoutMs\` is \`${wanted}\`; it must be a number above 0.`);
  return Math.min(wanted, config.policyScriptTimeoutMs ?? wanted);
}

/** Asked for by a program in JavaScript, whatever the types say. */
function checkWords({ script, args = [] }: ScriptRequest): void {
  const wrong = [script, ...args].filter((word) => typeof word !== "string");
  if (wrong.length === 0) return;
  throw new UsageError(`\`script\` and each of \`args\` is a text, not ${showValue(wrong[0])}.`);
}

type Ready =
  | (Extract<PreparedScript, { ok: true }> & { readonly sandbox: NonNullable<SkillPlace["sandbox"]> })
  | { readonly ok: false; readonly error: NonNullable<ScriptResult["error"]> };

async function getReady({ request, place, prepared, timeoutMs }: ScriptOrder): Promise<Ready> {
  const { sandbox, world } = place;
  if (!sandbox) {
    const { text: message } = await explainNoSandbox();
    return { ok: false, error: { code: "sandbox.unavailable", message } };
  }
  const env = deliverValues(prepared);
  const { signal } = request;
  const script = await prepareScript(request, { sandbox, world, env, timeoutMs, ...(signal && { signal }) });
  if (script.ok) return { ...script, sandbox };
  const code = script.reason === "program" ? "program.missing" : `script.${script.reason}`;
  return { ok: false, error: { code, message: script.message } };
}

async function carryOut(order: ScriptOrder, ready: Extract<Ready, { ok: true }>): Promise<ScriptResult> {
  const { runId, request, host, prepared, place, timeoutMs, redactor, capabilityNotes } = order;
  const recorder = await openRecorder({
    places: host.places,
    runId,
    redactor,
    ...(request.onEvent && { onEvent: request.onEvent }),
  });
  recordStart(recorder, { request, prepared, world: place.world, redactor });
  capabilityNotes.listen({
    onCall: (call) => recordCapability(recorder, redactor.redactJson(call)),
    onFault: (message) => recorder.emit({ type: "diagnostic", code: "capability.failed", message }),
  });
  const pager = createOutputPager({
    world: place.world,
    callId: "script",
    maxCharacters: MAX_OUTPUT_BYTES,
    redactStream: () => redactor.stream(),
    onText: (stream, text) => tell(request, stream, text),
  });
  const outcome = await ready.sandbox.run({
    ...ready.command,
    ...(request.signal && { signal: request.signal }),
    onOutput: (stream, chunk) => pager.take(stream, chunk),
  });
  const output = pager.end();
  await capabilityNotes.end();
  const ending = describeEnding(outcome, { ...ready, script: request.script, timeoutMs });
  const capabilities = redactor.redactJson(capabilityNotes.list());
  const called = capabilities.length > 0 && { capabilities };
  recordEnd(recorder, {
    ...ending,
    told: describeOutcome(outcome, output, { timeoutMs, moreTime: MORE_TIME }),
    stdout: output.stdout.head,
    durationMs: outcome.durationMs,
    ...called,
  });
  await recorder.close();
  const left = listWorkFiles(place.world.workDir);
  const json = readJsonOutput(output.stdout.head);
  const described = describeSkill(order);
  return {
    ...described,
    ...ending,
    ended: outcome.ended,
    ...(outcome.exitCode !== undefined && { exitCode: outcome.exitCode }),
    stdout: output.stdout.head,
    stderr: output.stderr.head,
    ...(json !== undefined && { json }),
    durationMs: outcome.durationMs,
    files: left.files,
    ...called,
    diagnostics: [
      ...described.diagnostics,
      ...redactor.diagnostics,
      ...reportLong(output, place.world.workDir),
      ...left.diagnostics,
      ...recorder.diagnostics,
    ],
  };
}

/** A listener that fails does not end the script. */
function tell({ onOutput }: ScriptRequest, stream: "stdout" | "stderr", text: string): void {
  try {
    onOutput?.(stream, text);
  } catch {
    // What it missed is in the result.
  }
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
    sandbox: { backend: "absent", declared: NOTHING, granted: NOTHING, used: NOTHING },
    diagnostics: [],
  };
}

function describeSkill({ runId, request, prepared, place }: ScriptOrder): Unstarted {
  return {
    ...unstarted(runId, request, prepared.skill.name),
    trust: prepared.trust.level,
    sandbox: {
      backend: place.sandbox?.backend ?? "absent",
      declared: place.declared,
      granted: place.granted,
      used: { ...NOTHING, network: [...place.reached].sort() },
    },
    diagnostics: [...prepared.diagnostics, ...place.diagnostics],
  };
}

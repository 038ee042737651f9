/**
 * One tool call of a run, from the model's request to the text it gets back: check the input, apply the policy, ask the
 * user if needed, run the skill's hooks, execute, clean, redact, record. Never throws: every error is an answer.
 */
import { sayFault } from "@metier/base/diagnostic";
import { checkJson, isJsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { cleanText } from "@metier/base/text";
import type { OutputFilterMode } from "@metier/skills/config";
import { type CallJournal, openCallJournal, takesTurn } from "../durable/call-journal.ts";
import { askDurably } from "../durable/durable-questions.ts";
import { MAX_ANSWER } from "../tools/read-answer.ts";
import { suggestRules } from "../tools/suggest-rules.ts";
import {
  type AcceptedTool,
  fault,
  type Tool,
  type ToolContext,
  type ToolInput,
  type ToolOutput,
  toolId,
} from "../tools/tool.ts";
import type { PolicyDecision } from "../tools/tool-policy.ts";
import { afterTool, beforeTool, type HookedCall } from "./hooks/run-hooks.ts";
import { type LiveRun, MOST_CALLS_PER_STEP, reportOnce, toolContext } from "./live-run.ts";
import { refuseWrite } from "./refuse-write.ts";
import type { RunContext } from "./run-context.ts";
import { untilStopped } from "./run-policy.ts";
import { filterOutput } from "./use-skill.ts";

interface ToolCall {
  readonly callId: string;
  readonly tool: Tool;
  readonly input: ToolInput;
  readonly signal: AbortSignal;
}

/** A call whose step is known. */
interface BegunCall extends ToolCall {
  readonly step: number;
  readonly startedAt: number;
}

const TOO_MANY_CALLS = `Skipped: a step can make at most ${MOST_CALLS_PER_STEP} tool calls. Call it again in the next step.`;

/** How long a stopped run waits for a tool to end what it started; a tool that doesn't react is left behind. */
const STOP_GRACE_MS = 5000;

/** The answer of a call that this process doesn't end; nobody reads it. */
const LEFT = fault("The run continues in another process.");

export async function callTool(asked: ToolCall, live: LiveRun): Promise<ToolOutput> {
  const { durable } = live.context;
  const journal = durable && openCallJournal(asked, live, durable);
  const recorded = journal?.recorded();
  if (recorded) return recorded;
  await live.slots.enter();
  durable?.parking.begin();
  try {
    if (durable?.steps.stopping.aborted) durable.parking.go("released");
    const signal = journal ? AbortSignal.any([asked.signal, journal.stop]) : asked.signal;
    const call: BegunCall = { ...asked, signal, step: live.model.steps, startedAt: performance.now() };
    const answered = await answerCall(call, journal, live);
    if (answered) return answered;
    await durable?.parking.wait(asked.callId, asked.signal);
    return LEFT;
  } catch (fault) {
    if (durable?.steps.lost.aborted) return LEFT; // It couldn't be recorded, which stopped the run.
    throw fault;
  } finally {
    durable?.parking.end();
    live.slots.leave();
  }
}

/** Whether the run leaves this process during the call: then the call starts over in the next one. */
function isLeft({ callId }: BegunCall, { context: { durable } }: LiveRun): boolean {
  return durable !== undefined && (durable.parking.leave !== undefined || durable.parking.isWaiting(callId));
}

/** `undefined`: it waits for a person, after it started. */
async function answerCall(
  call: BegunCall,
  journal: CallJournal | undefined,
  live: LiveRun,
): Promise<ToolOutput | undefined> {
  const end = async (output: ToolOutput): Promise<ToolOutput> => {
    if (isLeft(call, live)) return LEFT;
    const tell = (): ToolOutput => finish(call, output, live);
    return journal ? journal.end(tell) : tell();
  };
  const doubt = journal?.doubt();
  if (doubt) return end(doubt);
  if (await journal?.isStillWaiting()) return undefined;
  const admitted = await admit(call, live);
  if (!admitted.ok) return end(admitted.refusal);
  const carryOut = async (): Promise<ToolOutput | undefined> => {
    if (isLeft(call, live)) return LEFT;
    journal?.enter();
    try {
      const output = await perform(call, admitted.value, journal, live);
      return journal?.isEnding() ? undefined : await end(output);
    } finally {
      await journal?.leave();
    }
  };
  const { durable } = live.context;
  // Its snapshot is part of its turn: otherwise another call would be half in it.
  return durable && takesTurn(call.tool, live) ? durable.turns.alone(carryOut) : carryOut();
}

/** Including the hooks before and after it. */
async function perform(
  call: BegunCall,
  admitted: Admitted,
  journal: CallJournal | undefined,
  live: LiveRun,
): Promise<ToolOutput> {
  const blocked = await askHooks(call, admitted, journal, live);
  if (blocked) return blocked;
  await journal?.begin();
  const output = await execute(call, admitted, live);
  // A waiting call isn't over: the rest follows when it has started over.
  if (journal?.isEnding()) return output;
  const shown = show(output, call.tool, live);
  return admitted.hooked ? review(admitted.hooked, shown, call.tool, live) : shown;
}

async function execute(
  { tool, signal }: BegunCall,
  { input, read, context }: Admitted,
  live: LiveRun,
): Promise<ToolOutput> {
  let output: ToolOutput = fault("The run was stopped before this call.");
  try {
    const graceMs = tool.effect === "talk" ? 0 : STOP_GRACE_MS; // A question leaves nothing to clean up.
    if (!signal.aborted) {
      const answered = await untilStopped(tool.execute(read, context), signal, graceMs);
      output = answered ?? fault(`\`${tool.name}\` kept running when the run was stopped.`);
      const unwritable = output.isError ? refuseWrite(tool, input, live.context) : undefined;
      if (unwritable) output = fault(unwritable.message); // The message also says how to allow it.
    }
  } catch (error) {
    // A tool of the embedding program may throw; the run continues with the error as its answer.
    output = fault(`\`${tool.name}\` failed: ${sayFault(error)}`);
  }
  if (!output.isError) live.used.note(tool, input, live.context.place.world);
  return output;
}

interface Admitted {
  /** Checked, with defaults applied. */
  readonly input: ToolInput;
  /** The same as the tool takes it. */
  readonly read: ToolInput;
  readonly context: ToolContext;
  /** Absent: the skill has no hooks. */
  readonly hooked: HookedCall | undefined;
  readonly decision: "allow" | "approved";
  readonly rule: string;
}

/** Everything decided before a call is carried out; a refusal is the model's answer. */
async function admit(call: BegunCall, live: LiveRun): Promise<Result<Admitted, ToolOutput>> {
  const { callId, tool, input, signal, step } = call;
  const { context: run } = live;
  const refuse = (rule: string, message: string): Result<Admitted, ToolOutput> => {
    recordCall(call, "deny", rule, live);
    return refused(show(fault(message), tool, live));
  };
  if (!live.slots.admit(step)) {
    return refuse(`a step can make at most ${MOST_CALLS_PER_STEP} tool calls`, TOO_MANY_CALLS);
  }
  const checked = await readInput(tool, input);
  if (!checked.ok) {
    return refuse(
      "the input does not match the tool's schema",
      `Invalid input for \`${tool.name}\`: ${checked.refusal}`,
    );
  }
  const { value } = checked.value;
  const { answer, rule, message, argv, changed } = await decide(call, value, live);
  if (isLeft(call, live)) return refused(LEFT);
  if (answer === "deny") {
    live.denied.push({ tool: tool.name, reason: rule });
    return refuse(rule, message);
  }
  const context = { ...toolContext(live, callId, signal, tool.name), argv };
  const hooked =
    run.hooks.length === 0
      ? undefined
      : {
          tool: toolId(tool),
          callId,
          input: run.redactor.redactJson(changed?.value ?? value),
          step,
          context,
        };
  const carriedOut = changed ?? checked.value;
  return done({
    input: carriedOut.value,
    read: carriedOut.read,
    context,
    hooked,
    decision: answer === "ask" ? "approved" : "allow",
    rule,
  });
}

/** The last check before a call is carried out; returns why a hook blocks it. */
async function askHooks(
  call: BegunCall,
  { hooked, decision, rule, input }: Admitted,
  journal: CallJournal | undefined,
  live: LiveRun,
): Promise<ToolOutput | undefined> {
  const { tool } = call;
  const blocked = hooked && (await beforeTool(hooked, live));
  if (journal?.isEnding()) return LEFT;
  if (blocked || !journal?.isTold())
    recordCall({ ...call, input }, blocked ? "deny" : decision, blocked ?? rule, live);
  if (blocked === undefined) return undefined;
  live.denied.push({ tool: tool.name, reason: blocked });
  return show(fault(`\`${tool.name}\` was not run: ${blocked}`), tool, live);
}

/** `value`: as JSON, for decisions. `read`: for the tool. */
interface ReadInput {
  readonly value: ToolInput;
  readonly read: ToolInput;
}

async function readInput(tool: AcceptedTool, input: unknown): Promise<Result<ReadInput, string>> {
  if (tool.readInput === undefined) {
    const checked = await checkJson(tool.inputSchema, input);
    if (!checked.ok) return refused(checked.message);
    const value = checked.value as ToolInput;
    return done({ value, read: value });
  }
  if (!isJsonObject(input)) return refused("it is not an object");
  const value = input as ToolInput;
  const read = await tool.readInput(value);
  return read.ok ? done({ value, read: read.value as ToolInput }) : read;
}

function recordCall(
  { step, callId, tool, input: asked }: BegunCall,
  decision: "allow" | "approved" | "deny",
  rule: string,
  { context: { recorder, redactor } }: LiveRun,
): void {
  const input = redactor.redactJson(asked);
  recorder.emit({ type: "tool-called", step, callId, tool: tool.name, input, decision, rule });
}

function finish(
  { step, callId, tool, startedAt }: BegunCall,
  shown: ToolOutput,
  { context }: LiveRun,
): ToolOutput {
  const durationMs = Math.round(performance.now() - startedAt);
  context.recorder.emit({ type: "tool-finished", step, callId, tool: tool.name, ...shown, durationMs });
  return shown;
}

/** What the skill's hooks make of a result: they see what the model would. */
async function review(call: HookedCall, shown: ToolOutput, tool: Tool, live: LiveRun): Promise<ToolOutput> {
  const { blocked, notes } = await afterTool(call, shown, live);
  const { outputFilter } = live.context;
  if (blocked !== undefined) {
    const text = `A \`post-tool\` hook blocked the result of \`${call.tool}\`: ${blocked}`;
    return fault(clean(text, tool, live, outputFilter));
  }
  const said = notes.map((note) => {
    return `[note of a \`post-tool\` hook]\n${clean(note, tool, live, outputFilter)}\n[end of note]`;
  });
  return { ...shown, text: [shown.text, ...said].join("\n\n") };
}

type Settled = Pick<PolicyDecision, "rule" | "argv"> & {
  /** `ask`: the user was asked and agreed. */
  readonly answer: "allow" | "ask" | "deny";
  readonly message: string;
  /** As changed by the person who agreed. */
  readonly changed?: ReadInput | undefined;
};

async function decide(
  { tool, callId, signal }: BegunCall,
  input: ToolInput,
  live: LiveRun,
): Promise<Settled> {
  const run: RunContext = live.context;
  const { policy, approvals, place, durable } = run;
  const id = toolId(tool);
  const decision = askAlways(await policy.decide(id, tool.effect, input), tool, durable);
  const { rule, message = `\`${id}\` was not allowed: ${rule}.` } = decision;
  if (decision.answer !== "ask") return { ...decision, message };
  const unwritable = refuseWrite(tool, input, run);
  if (unwritable) return { answer: "deny", ...unwritable };
  const preview = await tool.preview?.(input, place.world);
  if (preview?.ok === false) {
    // It can't succeed, so nobody is asked.
    return { answer: "deny", rule: preview.refusal.text, message: preview.refusal.text };
  }
  const call = { tool: id, effect: tool.effect, input };
  // If every call is asked about, no rule would prevent the next question.
  const rules = durable?.asking.always ? [] : await suggestRules(call, place.world.cwd, policy);
  const question = { tool: id, input, rule, rules, diff: preview?.value };
  const answer =
    durable === undefined
      ? await approvals.ask(question, signal)
      : await askDurably(question, callId, live, durable, signal);
  const deny = (why: string): Settled => ({
    answer: "deny",
    rule: why,
    message: `\`${id}\` was not allowed: ${why}.`,
  });
  if (answer === undefined) return deny("nobody has answered yet");
  if (!answer.approved) return deny(answer.rule);
  const settled: Settled = { ...decision, message, rule: answer.rule };
  const edited = "input" in answer ? answer.input : undefined;
  if (edited === undefined) return settled;
  const changed = await readInput(tool, edited);
  if (!changed.ok) return deny(`the changed input does not match the tool's schema: ${changed.refusal}`);
  const again = await policy.decide(id, tool.effect, changed.value.value);
  if (again.answer === "deny") return deny(`the changed input is not allowed: ${again.rule}`);
  // What a rule derived from the first input doesn't apply to the changed one.
  return { ...settled, argv: again.argv, changed: changed.value };
}

/** If a person wants to see every change, no rule agrees for them. */
function askAlways(
  decision: PolicyDecision,
  { effect }: Tool,
  durable: RunContext["durable"],
): PolicyDecision {
  const isHarmless = effect === "read" || effect === "skill" || effect === "talk";
  if (decision.answer !== "allow" || isHarmless || !durable?.asking.always) return decision;
  return { ...decision, answer: "ask", rule: "asks before every call that is not read-only" };
}

/** A skill's answer is instructions, or a result that was filtered before it was wrapped. */
function show({ text, isError }: ToolOutput, tool: Tool, live: LiveRun): ToolOutput {
  const filter = tool.effect === "skill" ? "off" : live.context.outputFilter;
  return { text: clean(text, tool, live, filter), isError };
}

function clean(text: string, { name }: Tool, live: LiveRun, filter: OutputFilterMode): string {
  const { text: cleaned, removed } = cleanText(text);
  if (removed) {
    const message = `Removed ${removed.count} invisible characters from a result of \`${name}\`, ${removed.example} first.`;
    reportOnce(live, `cleaned ${name}`, "disclosure.text-removed", message);
  }
  const safe = live.context.redactor.redact(cleaned);
  const cut =
    safe.length > MAX_ANSWER
      ? `${safe.slice(0, MAX_ANSWER)}\n[cut: ${safe.length - MAX_ANSWER} more characters]`
      : safe;
  return filterOutput(cut, filter);
}

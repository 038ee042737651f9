/**
 * One tool call of a run, from the model's request to the text it gets back: input checked, policy asked, the user asked
 * where the policy says so, the skill's hooks asked, executed, cleaned, redacted, recorded. Never throws: whatever goes
 * wrong is an answer.
 */

import type { OutputFilterMode } from "../config/run-fields.ts";
import { type CleanText, cleanText } from "../disclose/clean-text.ts";
import type { RunEventBody } from "../events/run-event.ts";
import type { Redactor } from "../secrets/redaction.ts";
import {
  fault,
  type Tool,
  type ToolContext,
  type ToolInput,
  type ToolOutput,
  toolId,
} from "../tools/tool.ts";
import type { PolicyDecision, ToolPolicy } from "../tools/tool-policy.ts";
import { checkJson } from "../validate/json-schema.ts";
import type { Approvals } from "./approvals.ts";
import { type CallSlots, MOST_CALLS_PER_STEP } from "./call-slots.ts";
import type { HookedCall, RunHooks } from "./hooks/run-hooks.ts";
import { filterOutput } from "./output-filter.ts";
import { untilStopped } from "./until-stopped.ts";

export interface ToolCall {
  readonly callId: string;
  readonly tool: Tool;
  readonly input: ToolInput;
  readonly signal: AbortSignal;
}

export interface ToolDesk {
  readonly policy: ToolPolicy;
  readonly approvals: Approvals;
  readonly redactor: Redactor;
  readonly outputFilter: OutputFilterMode;
  readonly slots: CallSlots;
  /** Absent: the skill has none. */
  readonly hooks?: RunHooks;
  /** The step that is under way. */
  step(): number;
  emit(event: RunEventBody): void;
  context(call: { readonly callId: string; readonly signal: AbortSignal }): ToolContext;
  onDenied(denied: { readonly tool: string; readonly reason: string }): void;
  /** Characters that cannot be seen were taken out of an answer. */
  onCleaned(tool: Tool, removed: NonNullable<CleanText["removed"]>): void;
  /** A call that was carried out without a fault. */
  onDone(tool: Tool, input: ToolInput): void;
}

/** More of one answer than a model can use; tools that can page do so long before. */
const MAX_ANSWER = 200_000;

const TOO_MANY_CALLS = `Not carried out: one step has at most ${MOST_CALLS_PER_STEP} tool calls. Call it again in the next step.`;

/** A stopped run waits this long for a tool to end what it started; one that does not listen is left behind. */
const STOP_GRACE_MS = 5000;

export function callTool(call: ToolCall, desk: ToolDesk): Promise<ToolOutput> {
  return desk.slots.run(() => answerCall(call, desk));
}

async function answerCall({ callId, tool, input, signal }: ToolCall, desk: ToolDesk): Promise<ToolOutput> {
  const step = desk.step();
  const startedAt = performance.now();
  const { name } = tool;
  const called = (decision: "allow" | "approved" | "deny", rule: string): void =>
    desk.emit({
      type: "tool-called",
      step,
      callId,
      tool: name,
      input: desk.redactor.redactJson(input),
      decision,
      rule,
    });
  const show = ({ text, isError }: ToolOutput): ToolOutput => ({ text: present(text, tool, desk), isError });
  const finish = (shown: ToolOutput): ToolOutput => {
    const durationMs = Math.round(performance.now() - startedAt);
    desk.emit({ type: "tool-finished", step, callId, tool: name, ...shown, durationMs });
    return shown;
  };
  const refuse = (rule: string, message: string): ToolOutput => {
    called("deny", rule);
    desk.onDenied({ tool: name, reason: rule });
    return finish(show(fault(message)));
  };

  if (!desk.slots.admit(step)) {
    called("deny", `one step has at most ${MOST_CALLS_PER_STEP} tool calls`);
    return finish(show(fault(TOO_MANY_CALLS)));
  }
  const checked = await checkJson(tool.inputSchema, input);
  if (!checked.ok) {
    called("deny", "the input does not fit the tool");
    return finish(show(fault(`Invalid input for \`${name}\`: ${checked.message}`)));
  }
  const value = checked.value as ToolInput;
  const decision = await decide(tool, value, desk, signal);
  if (decision.answer === "deny") return refuse(decision.rule, decision.message);
  const context = { ...desk.context({ callId, signal }), ...(decision.argv && { argv: decision.argv }) };
  const hooked = desk.hooks && {
    tool: toolId(tool),
    callId,
    input: desk.redactor.redactJson(value),
    step,
    context,
  };
  const blocked = hooked && (await desk.hooks?.beforeTool(hooked));
  if (blocked) return refuse(blocked, `\`${name}\` was not carried out: ${blocked}`);
  called(decision.answer === "ask" ? "approved" : "allow", decision.rule);
  const output = await execute(tool, value, context);
  if (!output.isError) desk.onDone(tool, value);
  const shown = show(output);
  return finish(hooked ? await review(hooked, shown, tool, desk) : shown);
}

/** What the skill's hooks make of an answer: they see what the model would. */
async function review(call: HookedCall, shown: ToolOutput, tool: Tool, desk: ToolDesk): Promise<ToolOutput> {
  const after = await desk.hooks?.afterTool(call, shown);
  if (after === undefined) return shown;
  const { blocked, notes } = after;
  if (blocked !== undefined) {
    const text = `The answer of \`${call.tool}\` is withheld, a \`post-tool\` hook blocked it: ${blocked}`;
    return fault(clean(text, tool, desk, desk.outputFilter));
  }
  const said = notes.map((note) => {
    return `[note of a \`post-tool\` hook]\n${clean(note, tool, desk, desk.outputFilter)}\n[end of note]`;
  });
  return { ...shown, text: [shown.text, ...said].join("\n\n") };
}

type Settled = Pick<PolicyDecision, "rule" | "argv"> & {
  /** `ask`: the user was asked and agreed. */
  readonly answer: "allow" | "ask" | "deny";
  readonly message: string;
};

async function decide(
  tool: Tool,
  input: ToolInput,
  { policy, approvals }: ToolDesk,
  signal: AbortSignal,
): Promise<Settled> {
  const id = toolId(tool);
  const decision = await policy.decide(id, tool.effect, input);
  const { rule, message = `\`${id}\` was not allowed: ${rule}.` } = decision;
  if (decision.answer !== "ask") return { ...decision, message };
  const answer = await approvals.ask({ tool: id, input, rule }, signal);
  if (answer.approved) return { ...decision, message, rule: answer.rule };
  return { answer: "deny", rule: answer.rule, message: `\`${id}\` was not allowed: ${answer.rule}.` };
}

async function execute(tool: Tool, input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  if (context.signal.aborted) return fault("The run was stopped before this call.");
  try {
    const graceMs = tool.effect === "talk" ? 0 : STOP_GRACE_MS; // A question leaves nothing to be ended.
    const output = await untilStopped(tool.execute(input, context), context.signal, graceMs);
    return output ?? fault(`\`${tool.name}\` did not end when the run was stopped.`);
  } catch (error) {
    // A tool of the embedding program may throw; the run goes on with the fault as its answer.
    return fault(`\`${tool.name}\` failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What a skill answers is instructions, or a result that was filtered before it was wrapped. */
function present(text: string, tool: Tool, desk: ToolDesk): string {
  return clean(text, tool, desk, tool.effect === "skill" ? "off" : desk.outputFilter);
}

function clean(
  text: string,
  tool: Tool,
  { redactor, onCleaned }: ToolDesk,
  filter: OutputFilterMode,
): string {
  const cleaned = cleanText(text);
  if (cleaned.removed) onCleaned(tool, cleaned.removed);
  const safe = redactor.redact(cleaned.text);
  const cut =
    safe.length > MAX_ANSWER
      ? `${safe.slice(0, MAX_ANSWER)}\n[cut: ${safe.length - MAX_ANSWER} more characters]`
      : safe;
  return filterOutput(cut, filter);
}

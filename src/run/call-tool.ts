/**
 * One tool call of a run, from the model's request to the text it gets back: input checked, policy asked, the user asked
 * where the policy says so, executed, cleaned, redacted, recorded. Never throws: whatever goes wrong is an answer.
 */

import type { OutputFilterMode } from "../config/run-fields.ts";
import { type CleanText, cleanText } from "../disclose/clean-text.ts";
import type { RunEventBody } from "../events/run-event.ts";
import type { Redactor } from "../secrets/redaction.ts";
import { fault, type Tool, type ToolContext, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import type { PolicyDecision, ToolPolicy } from "../tools/tool-policy.ts";
import { checkJson } from "../validate/json-schema.ts";
import type { Approvals } from "./approvals.ts";
import { type CallSlots, MOST_CALLS_PER_STEP } from "./call-slots.ts";
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
  const finish = (output: ToolOutput): ToolOutput => {
    const text = present(output.text, tool, desk);
    const durationMs = Math.round(performance.now() - startedAt);
    desk.emit({ type: "tool-finished", step, callId, tool: name, text, isError: output.isError, durationMs });
    return { text, isError: output.isError };
  };

  if (!desk.slots.admit(step)) {
    called("deny", `one step has at most ${MOST_CALLS_PER_STEP} tool calls`);
    return finish(fault(TOO_MANY_CALLS));
  }
  const checked = await checkJson(tool.inputSchema, input);
  if (!checked.ok) {
    called("deny", "the input does not fit the tool");
    return finish(fault(`Invalid input for \`${name}\`: ${checked.message}`));
  }
  const value = checked.value as ToolInput;
  const decision = await decide(tool, value, desk, signal);
  if (decision.answer === "deny") {
    called("deny", decision.rule);
    desk.onDenied({ tool: name, reason: decision.rule });
    return finish(fault(decision.message));
  }
  called(decision.answer === "ask" ? "approved" : "allow", decision.rule);
  const context = { ...desk.context({ callId, signal }), ...(decision.argv && { argv: decision.argv }) };
  const output = await execute(tool, value, context);
  if (!output.isError) desk.onDone(tool, value);
  return finish(output);
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
  const decision = await policy.decide(tool.name, tool.effect, input);
  const { rule, message = `\`${tool.name}\` was not allowed: ${rule}.` } = decision;
  if (decision.answer !== "ask") return { ...decision, message };
  const answer = await approvals.ask({ tool: tool.name, input, rule }, signal);
  if (answer.approved) return { ...decision, message, rule: answer.rule };
  return { answer: "deny", rule: answer.rule, message: `\`${tool.name}\` was not allowed: ${answer.rule}.` };
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

function present(text: string, tool: Tool, { redactor, outputFilter, onCleaned }: ToolDesk): string {
  const cleaned = cleanText(text);
  if (cleaned.removed) onCleaned(tool, cleaned.removed);
  const clean = redactor.redact(cleaned.text);
  const cut =
    clean.length > MAX_ANSWER
      ? `${clean.slice(0, MAX_ANSWER)}\n[cut: ${clean.length - MAX_ANSWER} more characters]`
      : clean;
  // What a skill answers is instructions, or a result that was filtered before it was wrapped.
  return tool.effect === "skill" ? cut : filterOutput(cut, outputFilter);
}

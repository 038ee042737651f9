/**
 * `use_skill` for a host that has a loop of its own: skills that run inline answer with their instructions, those that
 * run in isolation with their wrapped result. One tool serves one conversation.
 */
import { type Conversation, createConversation } from "../disclose/conversation.ts";
import type { Trust } from "../skill/skill.ts";
import { checkProgramTools } from "../tools/check-program-tools.ts";
import { answerSafely } from "../tools/skills/skill-tool.ts";
import { fault, type Tool, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import { checkJson } from "../validate/json-schema.ts";
import { type BudgetLimits, createBudget } from "./budget.ts";
import { rememberConversation } from "./conversation-memory.ts";
import { hideRestricted } from "./hide-restricted.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import { type InvokeFromModel, type UseSkillTool, useSkillTool } from "./use-skill.ts";

export interface ConversationToolOptions
  extends Pick<
    RunRequest,
    "caller" | "model" | "limits" | "write" | "approve" | "askUser" | "tools" | "onEvent"
  > {
  /** What the conversation was given already; keep it from turn to turn. Default: a new one. */
  readonly conversation?: Conversation;
  /** What all runs of the conversation may spend together. Default: no limit. */
  readonly budget?: BudgetLimits;
}

/** Any host can call it; the signal ends a run with everything it started. */
export interface ConversationTool extends Tool<unknown> {
  execute(input: ToolInput, context?: { readonly signal?: AbortSignal }): Promise<ToolOutput>;
}

/** `undefined` when there is no skill a model may use. */
export function createConversationTool(
  given: RunHost,
  { conversation = createConversation(), budget, ...request }: ConversationToolOptions,
  trustOf: (skill: string) => Trust | undefined,
): ConversationTool | undefined {
  checkProgramTools([...given.tools, ...(request.tools ?? [])]);
  const host = hideRestricted(given, request.caller);
  const parent: RunParent = {
    chain: [],
    trust: "trusted",
    memory: rememberConversation(conversation, trustOf),
    budget: createBudget(budget),
    onChild: () => undefined, // The host hears of every run by its events.
  };
  const invoke: InvokeFromModel = async (skill, signal) => {
    const { invokeSkill } = await import("./invoke-skill.ts");
    return invokeSkill({ ...request, ...skill, source: "model", signal }, host, { parent });
  };
  const tool = useSkillTool(host.library.skills(), invoke, () => host.config().config.runs.outputFilter);
  return tool && { ...tool, execute: (input, context) => callChecked(tool, input, context?.signal) };
}

/** A host may not check inputs, and may not expect a tool to throw. */
function callChecked(
  tool: UseSkillTool,
  input: ToolInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutput> {
  return answerSafely(async () => {
    const checked = await checkJson(tool.inputSchema, input);
    if (!checked.ok) return fault(`Invalid input for \`${tool.name}\`: ${checked.message}`);
    return tool.execute(checked.value as ToolInput, { signal });
  });
}

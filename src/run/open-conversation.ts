/** One conversation of a host that has a loop of its own: what its tools share, and its `use_skill`. */
import { type Conversation, createConversation } from "../disclose/conversation.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { Trust } from "../skill/skill.ts";
import { checkProgramTools } from "../tools/check-program-tools.ts";
import { answerSafely, type SkillTool } from "../tools/skills/skill-tool.ts";
import { fault, type ToolInput } from "../tools/tool.ts";
import { checkJson } from "../validate/json-schema.ts";
import { createBudget } from "./budget.ts";
import { rememberConversation } from "./conversation-memory.ts";
import type { ConversationTool, ConversationToolOptions } from "./conversation-tool.ts";
import { hideRestricted } from "./hide-restricted.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import { type InvokeFromModel, type UseSkillTool, useSkillTool } from "./use-skill.ts";

export interface OpenedConversation {
  /** With the skills that the caller may use, and no others. */
  readonly host: RunHost;
  readonly parent: RunParent;
  readonly conversation: Conversation;
  /** `undefined` when there is no skill a model may use. */
  readonly useSkill: ConversationTool | undefined;
}

export function openConversation(
  given: RunHost,
  { conversation = createConversation(), budget, canRun = true, ...request }: ConversationToolOptions,
  trustOf: (skill: string) => Trust | undefined,
  /** Hears of every skill whose instructions are put into the conversation. */
  onInline: (prepared: PreparedInvocation, text: string) => void = () => undefined,
): OpenedConversation {
  checkProgramTools([...given.tools, ...(request.tools ?? [])]);
  const host = hideRestricted(given, request.caller);
  const parent: RunParent = {
    chain: [],
    trust: "trusted",
    memory: rememberConversation(conversation, trustOf),
    budget: createBudget(budget),
    onChild: () => undefined, // The host hears of every run by its events.
  };
  const invoke: InvokeFromModel = async (skill, signal, userMessage) => {
    const { invokeSkill } = await import("./invoke-skill.ts");
    const told = { ...skill, ...(userMessage !== undefined && { userMessage }) };
    const outcome = await invokeSkill({ ...request, ...told, source: "model", signal }, host, {
      parent,
      canRun,
    });
    if (outcome.kind === "inline") onInline(outcome.prepared, outcome.text);
    return outcome;
  };
  const tool = useSkillTool(host.library.skills(), invoke, () => host.config().config.runs.outputFilter);
  return { host, parent, conversation, useSkill: tool && checkCalls(tool) };
}

/** A host may not check inputs, and may not expect a tool to throw. */
export function checkCalls(tool: UseSkillTool | SkillTool): ConversationTool {
  return {
    ...tool,
    execute: (input, { signal = new AbortController().signal, userMessage } = {}) =>
      answerSafely(async () => {
        const checked = await checkJson(tool.inputSchema, input);
        if (!checked.ok) return fault(`Invalid input for \`${tool.name}\`: ${checked.message}`);
        const call = { signal, ...(userMessage !== undefined && { userMessage }) };
        return tool.execute(checked.value as ToolInput, call);
      }),
  };
}

/**
 * `metier/openai`: skills for the OpenAI Agents SDK, the Responses API and chat completions (and whoever speaks them).
 * There is no file system, so the model is told of the skills in its instructions and reads them by tools. Nothing of
 * OpenAI's is imported: these are the shapes that its packages take.
 */
import type { Conversation } from "../disclose/conversation.ts";
import type { ConversationCall } from "../run/conversation-tool.ts";
import type { SkillOffer, SkillOfferOptions } from "../run/offer-skills.ts";
import type { Metier } from "../runtime/create-metier.ts";
import { callWithText } from "./call-with-text.ts";
import { messageTexts } from "./message-texts.ts";

/** JSON Schema as OpenAI takes it. */
export interface OpenAiParameters {
  type: "object";
  properties: Record<string, Record<string, unknown>>;
  required: string[];
  additionalProperties: false;
  [key: string]: unknown;
}

interface OpenAiSkills<Tool> {
  /** For the system prompt; put your own before it. `""` without skills. */
  readonly instructions: string;
  readonly tools: Tool[];
  /** What the conversation was given; keep it to go on later. */
  readonly conversation: Conversation;
  /** The instructions that are in none of these items or messages any more, to be given again; `""` when all are there. */
  restore(messages: readonly unknown[]): string;
}

/** A function tool of `@openai/agents`. */
export interface OpenAiAgentTool {
  type: "function";
  name: string;
  description: string;
  parameters: OpenAiParameters;
  strict: boolean;
  invoke(
    context: unknown,
    input: string,
    details?: { readonly signal?: AbortSignal | undefined },
  ): Promise<string>;
  needsApproval(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
}

export type OpenAiAgentSkills = OpenAiSkills<OpenAiAgentTool>;

/** For `new Agent({ instructions, tools })`. One offer serves one conversation. */
export async function openAiAgentSkills(
  metier: Metier,
  options?: SkillOfferOptions,
): Promise<OpenAiAgentSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...common(offer),
    tools: offer.tools.map(toFunctionTool).map((tool) => ({
      ...tool,
      invoke: async (_context, input, details) => {
        const call = details?.signal && { signal: details.signal };
        return (await callWithText(offer, tool.name, input, call)).text;
      },
      needsApproval: async () => false,
      isEnabled: async () => true,
    })),
  };
}

export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: OpenAiParameters;
  strict: boolean;
}

export interface OpenAiFunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string;
}

export interface OpenAiResponsesSkills extends OpenAiSkills<OpenAiResponsesTool> {
  /** Answers the calls among the items of a response's `output`: the items to send next. Others' calls are left alone. */
  answer(output: readonly unknown[], call?: ConversationCall): Promise<OpenAiFunctionCallOutput[]>;
}

/** For `responses.create({ instructions, tools, input })`. */
export async function openAiResponsesSkills(
  metier: Metier,
  options?: SkillOfferOptions,
): Promise<OpenAiResponsesSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...common(offer),
    tools: offer.tools.map(toFunctionTool),
    async answer(output, call) {
      const answers: OpenAiFunctionCallOutput[] = [];
      for (const item of output) {
        if (!isFunctionCall(item) || !isOffered(offer, item.name)) continue;
        const { text } = await callWithText(offer, item.name, item.arguments, call);
        answers.push({ type: "function_call_output", call_id: item.call_id, output: text });
      }
      return answers;
    },
  };
}

export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: OpenAiParameters };
}

export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export interface OpenAiChatSkills extends OpenAiSkills<OpenAiChatTool> {
  /** Answers the calls of an assistant's message: the messages to send next. Others' calls are left alone. */
  answer(
    message: { readonly tool_calls?: readonly unknown[] | null | undefined },
    call?: ConversationCall,
  ): Promise<OpenAiToolMessage[]>;
}

/** For `chat.completions.create({ messages, tools })`; `instructions` is the content of a system message. */
export async function openAiChatSkills(
  metier: Metier,
  options?: SkillOfferOptions,
): Promise<OpenAiChatSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...common(offer),
    tools: offer.tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: toParameters(inputSchema) },
    })),
    async answer({ tool_calls }, call) {
      const answers: OpenAiToolMessage[] = [];
      for (const item of tool_calls ?? []) {
        if (!isToolCall(item) || !isOffered(offer, item.function.name)) continue;
        const { text } = await callWithText(offer, item.function.name, item.function.arguments, call);
        answers.push({ role: "tool", tool_call_id: item.id, content: text });
      }
      return answers;
    },
  };
}

type OfferedTool = SkillOffer["tools"][number];

function common(offer: SkillOffer): Omit<OpenAiSkills<never>, "tools"> {
  const { instructions, conversation } = offer;
  const restore = (messages: readonly unknown[]): string => offer.lost(messageTexts(messages));
  return { instructions, conversation, restore };
}

/** Not strict: a strict schema has no optional properties, and calls are checked here anyway. */
function toFunctionTool({ name, description, inputSchema }: OfferedTool): OpenAiResponsesTool {
  return { type: "function", name, description, parameters: toParameters(inputSchema), strict: false };
}

function toParameters(schema: OfferedTool["inputSchema"]): OpenAiParameters {
  const { properties, required = [], ...rest } = structuredClone(schema);
  return {
    ...rest,
    type: "object",
    properties: properties as OpenAiParameters["properties"],
    required: required as string[],
    additionalProperties: false,
  };
}

function isOffered({ tools }: SkillOffer, name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

interface FunctionCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: unknown;
}

function isFunctionCall(item: unknown): item is FunctionCall {
  const call = item as Partial<FunctionCall & { readonly type: string }> | null;
  return call?.type === "function_call" && typeof call.name === "string" && typeof call.call_id === "string";
}

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: unknown };
}

function isToolCall(item: unknown): item is ToolCall {
  const call = item as Partial<ToolCall> | null;
  return typeof call?.id === "string" && typeof call.function?.name === "string";
}

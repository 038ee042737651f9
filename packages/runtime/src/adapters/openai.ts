/**
 * `metier/openai`: skills for the OpenAI Agents SDK, the Responses API and chat completions (and anything compatible).
 * There is no file system, so the model learns of the skills from its instructions and reads them with tools. It
 * imports nothing from OpenAI; these are the shapes its packages take.
 */
import {
  type ConversationCall,
  checkCallOptions,
  type SkillOffer,
  type SkillOfferOptions,
} from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted, narrowTools, toolName } from "./adapter.ts";
import { callWithText, guardRun, messageTexts } from "./plain.ts";

/** JSON Schema in the form OpenAI takes. */
export interface OpenAiParameters {
  /** Always `object`. */
  type: "object";
  /** A JSON Schema for each parameter, by name. */
  properties: Record<string, Record<string, unknown>>;
  /** Names of the parameters that a call must have. */
  required: string[];
  /** Always `false`: a call has no other parameters. */
  additionalProperties: false;
  /** The tool's other JSON Schema keywords, unchanged. */
  [key: string]: unknown;
}

/** What the OpenAI adapters share. */
interface OpenAiSkills<Tool> extends AdaptedSkills {
  /** For the system prompt; put your own first. `""` without skills. */
  readonly instructions: string;
  /** Send them with your own; empty without skills. */
  readonly tools: Tool[];
  /** The instructions that are no longer in these items or messages, to be sent again; `""` if none are missing. */
  restore(messages: readonly unknown[]): string;
}

/** A function tool of `@openai/agents`. */
export interface OpenAiAgentTool {
  /** Always `function`. */
  type: "function";
  /** The name the model calls, such as `use_skill`. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** The tool's input. */
  parameters: OpenAiParameters;
  /** Always `false`: a strict schema has no optional parameters. Each call is checked anyway. */
  strict: boolean;
  /** Answers a call with text for the model. `input` is JSON; aborting `signal` ends the call. */
  invoke(
    context: unknown,
    input: string,
    details?: { readonly signal?: AbortSignal | undefined },
  ): Promise<string>;
  /** Always `false`: Metier's tool policy decides what a skill's run may do. */
  needsApproval(): Promise<boolean>;
  /** Whether the followed skills allow this tool. */
  isEnabled(): Promise<boolean>;
}

/** Returned by `openAiAgentSkills`: instructions and tools for one conversation of an `Agent`. */
export interface OpenAiAgentSkills extends OpenAiSkills<OpenAiAgentTool> {
  /**
   * Wraps your own tools for `new Agent({ tools })`. A tool that a followed skill disallows is hidden from the model,
   * and a disallowed call is answered with the reason. Tools that OpenAI runs itself can't be checked; `reports` lists
   * them when a skill disallows one. Call `startTurn` before each `run`, and pass it `toolNotFoundBehavior:
   * "return_error_to_model"`: otherwise the SDK ends the run when a model calls a hidden tool.
   */
  guard<Tool extends object>(tools: readonly Tool[]): Tool[];
}

/** What plain API loops use to check the program's own tools. */
interface OpenAiHold {
  /**
   * Of all tools you would send, these and yours, returns those that the followed skills allow. Call it before every
   * request.
   */
  narrow<Tool>(tools: readonly Tool[]): Tool[];
  /**
   * Wraps the function that runs your own tools so that it checks each call first: a call that a followed skill
   * disallows isn't made, and is answered with the reason as text for the model. `input` may be the arguments as they
   * arrived.
   */
  guard<Answer, Rest extends readonly unknown[]>(
    run: (tool: string, input: unknown, ...rest: Rest) => Answer | Promise<Answer>,
  ): (tool: string, input: unknown, ...rest: Rest) => Promise<Answer | string>;
}

/**
 * Offers skills to an `Agent` of the OpenAI Agents SDK; make one for each conversation.
 *
 * @example
 * ```ts
 * const skills = await openAiAgentSkills(metier);
 * const tools = [...skills.tools, ...skills.guard(ownTools)];
 * const agent = new Agent({ name: "Editor", instructions: skills.instructions, tools });
 * skills.startTurn();
 * const { finalOutput } = await run(agent, "Shorten: it rained all day.");
 * ```
 */
export async function openAiAgentSkills(
  metier: OffersSkills,
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
      isEnabled: async () => offer.narrow([tool.name]).length > 0,
    })),
    guard: (tools) => guardAgentTools(offer, tools),
  };
}

type AgentFunction = Pick<OpenAiAgentTool, "name"> & {
  readonly invoke: (context: unknown, input: string, details?: unknown) => Promise<unknown>;
  readonly isEnabled?: ((...given: readonly unknown[]) => Promise<boolean>) | boolean;
};

function guardAgentTools<Tool extends object>(offer: SkillOffer, tools: readonly Tool[]): Tool[] {
  const [held, beyond] = [tools.filter(isAgentFunction), tools.filter((tool) => !isAgentFunction(tool))];
  const guard = offer.guard(held.map(toolName), beyond.map(toolName));
  return tools.map((tool) => {
    if (!isAgentFunction(tool)) return tool;
    const { name, isEnabled = true } = tool;
    const before: Partial<AgentFunction> = {
      isEnabled: async (...given) => {
        const isWanted =
          typeof isEnabled === "function" ? await isEnabled.apply(tool, given as never) : isEnabled;
        return isWanted && offer.narrow([name]).length > 0;
      },
      invoke: async (context, input, details) =>
        (await guard.whyNot(name, input)) ?? tool.invoke(context, input, details),
    };
    return { ...tool, ...before };
  });
}

function isAgentFunction<Tool extends object>(tool: Tool): tool is Tool & AgentFunction {
  const { type, invoke } = tool as { readonly type?: unknown; readonly invoke?: unknown };
  return type === "function" && typeof invoke === "function";
}

/** A function tool of the Responses API. */
export interface OpenAiResponsesTool {
  /** Always `function`. */
  type: "function";
  /** The name the model calls, such as `use_skill`. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** The tool's input. */
  parameters: OpenAiParameters;
  /** Always `false`: a strict schema has no optional parameters. Each call is checked anyway. */
  strict: boolean;
}

/** An `input` item for the Responses API that answers one call. */
export interface OpenAiFunctionCallOutput {
  /** Always `function_call_output`. */
  type: "function_call_output";
  /** Which call this answers. */
  call_id: string;
  /** Text for the model; if the call failed, the reason. */
  output: string;
}

/** Returned by `openAiResponsesSkills`: instructions, tools and `answer` for one conversation. */
export interface OpenAiResponsesSkills extends OpenAiSkills<OpenAiResponsesTool>, OpenAiHold {
  /** Answers the calls in a response's `output` and returns the items to send next. Ignores calls of other tools. */
  answer(output: readonly unknown[], call?: ConversationCall): Promise<OpenAiFunctionCallOutput[]>;
}

/**
 * Offers skills to `responses.create` of the Responses API; make one for each conversation.
 *
 * @example
 * ```ts
 * const skills = await openAiResponsesSkills(metier);
 * const { instructions, tools } = skills;
 * const { output } = await client.responses.create({ model: "gpt-4.1", instructions, tools, input: "Hi" });
 * const answers = await skills.answer(output); // Send them in the next `input`, after `output`.
 * ```
 */
export async function openAiResponsesSkills(
  metier: OffersSkills,
  options?: SkillOfferOptions,
): Promise<OpenAiResponsesSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...common(offer),
    ...holding(offer),
    tools: offer.tools.map(toFunctionTool),
    async answer(output, call) {
      checkCallOptions("answer", call);
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

/** A function tool of chat completions. */
export interface OpenAiChatTool {
  /** Always `function`. */
  type: "function";
  /** The name the model calls, its description, and the tool's input. */
  function: { name: string; description: string; parameters: OpenAiParameters };
}

/** A chat completions message that answers one call. */
export interface OpenAiToolMessage {
  /** Always `tool`. */
  role: "tool";
  /** Which call this answers. */
  tool_call_id: string;
  /** Text for the model; if the call failed, the reason. */
  content: string;
}

/** Returned by `openAiChatSkills`: instructions, tools and `answer` for one conversation. */
export interface OpenAiChatSkills extends OpenAiSkills<OpenAiChatTool>, OpenAiHold {
  /**
   * Answers the calls in an assistant's message and returns the messages to send next. Ignores calls of other tools.
   */
  answer(
    message: { readonly tool_calls?: readonly unknown[] | null | undefined },
    call?: ConversationCall,
  ): Promise<OpenAiToolMessage[]>;
}

/**
 * Offers skills to `chat.completions.create`; make one for each conversation. `instructions` is for a system message.
 *
 * @example
 * ```ts
 * const skills = await openAiChatSkills(metier);
 * messages.unshift({ role: "system", content: skills.instructions });
 * const { choices } = await client.chat.completions.create({ model: "gpt-4.1", messages, tools: skills.tools });
 * for (const { message } of choices) messages.push(message, ...(await skills.answer(message)));
 * ```
 */
export async function openAiChatSkills(
  metier: OffersSkills,
  options?: SkillOfferOptions,
): Promise<OpenAiChatSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...common(offer),
    ...holding(offer),
    tools: offer.tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: toParameters(inputSchema) },
    })),
    async answer({ tool_calls }, call) {
      checkCallOptions("answer", call);
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
  const { instructions } = offer;
  const restore = (messages: readonly unknown[]): string => offer.lost(messageTexts(messages));
  return { ...adapted(offer), instructions, restore };
}

function holding(offer: SkillOffer): OpenAiHold {
  return {
    narrow: (tools) => narrowTools(offer, tools),
    guard: (run) => guardRun(offer, run, (why) => why),
  };
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

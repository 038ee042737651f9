/**
 * `metier/langchain`: skills for LangChain.js 1 agents, as one middleware with everything: the tools, what the model is
 * told about them, and checks on the agent's own tools. For your own graphs, use `tools` and `instructions`. It imports
 * nothing from LangChain: you pass in its `tool`, so your copy is the only one.
 */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import type { ConversationCall, ConversationTool, SkillOffer, SkillOfferOptions } from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted, narrowTools } from "./adapter.ts";
import { callWithText, lastUserText, messageTexts } from "./plain.ts";

/** Options of `langChainSkills`: LangChain's `tool`, and every option of `metier.offerSkills`. */
export interface LangChainSkillsOptions extends SkillOfferOptions {
  /** `tool` from the package `langchain` or `@langchain/core/tools`. */
  readonly tool: LangChainToolMaker;
}

/** `tool` creates a tool from a function, a name and a JSON Schema. */
export type LangChainToolMaker = (run: never, fields: never) => unknown;

/** A tool created by LangChain. */
export interface LangChainTool {
  /** The name the model calls, such as `use_skill`. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** Answers input with text, and a tool call with a `ToolMessage`. */
  invoke(input: unknown, config?: unknown): Promise<unknown>;
  /** Everything else on LangChain's tools. */
  [key: string]: unknown;
}

/** The part of a middleware's `wrapModelCall` argument that is used here. */
export interface LangChainModelRequest {
  /** The conversation so far, without the system message. */
  readonly messages: readonly unknown[];
  /** The tools the model would be sent. */
  readonly tools: readonly unknown[];
  /** The system message; `concat` returns one with more text. */
  readonly systemMessage: { readonly text: string; concat(more: string): unknown };
}

/** The part of a middleware's `wrapToolCall` argument that is used here. */
export interface LangChainToolRequest {
  /** The call as the model made it. */
  readonly toolCall: { readonly name: string; readonly args: unknown; readonly id?: string | undefined };
}

/** For `createAgent({ middleware: [skills.middleware] })`. */
export interface LangChainMiddleware {
  /** The name LangChain knows the middleware by. */
  name: "MetierSkills";
  /** The skill tools, which the agent gets in addition to its own. */
  tools: LangChainTool[];
  /** A turn starts. */
  beforeAgent(): void;
  /** Tells the model about the skills, restores what was trimmed from the messages, and removes tools. */
  wrapModelCall<Request extends LangChainModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer,
  ): Answer;
  /** Answers a call that a followed skill disallows with the reason. */
  wrapToolCall<Request extends LangChainToolRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
}

/** Returned by `langChainSkills`: a middleware for one conversation, and its parts for your own graph. */
export interface LangChainSkills extends AdaptedSkills {
  /** For the system prompt of your own graph; the middleware adds it itself. `""` without skills. */
  readonly instructions: string;
  /** For `bindTools` and `ToolNode` of your own graph; the middleware adds them itself. */
  readonly tools: LangChainTool[];
  /** For `middleware` of `createAgent`; it includes tools and instructions. */
  readonly middleware: LangChainMiddleware;
  /** The instructions that are no longer in these messages, to be sent again; `""` if none are missing. */
  restore(messages: readonly unknown[]): string;
  /** Returns the tools of your own graph that the followed skills allow. Call it before every request. */
  narrow<Tool>(tools: readonly Tool[]): Tool[];
}

/**
 * Offers skills to an agent of LangChain.js 1; make one for each conversation. Throws `UsageError` without `tool`.
 *
 * @example
 * ```ts
 * import { createAgent, tool } from "langchain";
 * import { langChainSkills } from "metier/langchain";
 * const skills = await langChainSkills(metier, { tool });
 * const agent = createAgent({ model: "openai:gpt-4.1", tools: [], middleware: [skills.middleware] });
 * ```
 */
export async function langChainSkills(
  metier: OffersSkills,
  options: LangChainSkillsOptions,
): Promise<LangChainSkills> {
  const { tool: maker, ...rest } = options ?? {};
  if (typeof maker !== "function") {
    throw new UsageError("`langChainSkills` needs `tool` from the package `langchain`.", {
      hint: 'Use `import { tool } from "langchain"`, then `langChainSkills(metier, { tool })`.',
    });
  }
  const offer = await metier.offerSkills(rest);
  const make = maker as unknown as MakeTool;
  const heard: Heard = {};
  const tools = offer.tools.map((tool) => toLangChainTool(offer, tool, make, heard));
  return {
    ...adapted(offer),
    instructions: offer.instructions,
    tools,
    middleware: createMiddleware(offer, tools, make, heard),
    restore: (messages) => offer.lost(textsOf(messages)),
    narrow: (given) => narrowTools(offer, given),
  };
}

type Run = (input: unknown, config?: { readonly signal?: AbortSignal | undefined }) => Promise<string>;
type MakeTool = (run: Run, fields: ToolFields) => LangChainTool;

interface ToolFields {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly schema: unknown;
}

/** What the middleware saw of the conversation. */
interface Heard {
  userMessage?: string | undefined;
}

function toLangChainTool(
  offer: SkillOffer,
  { name, description, inputSchema }: ConversationTool,
  make: MakeTool,
  heard: Heard,
): LangChainTool {
  const run: Run = async (input, config) => {
    const call: ConversationCall = presentFields({ signal: config?.signal, userMessage: heard.userMessage });
    return (await callWithText(offer, name, input, call)).text;
  };
  return make(run, { name, description, schema: structuredClone(inputSchema) });
}

function createMiddleware(
  offer: SkillOffer,
  tools: LangChainTool[],
  make: MakeTool,
  heard: Heard,
): LangChainMiddleware {
  return {
    name: "MetierSkills",
    tools,
    beforeAgent: () => offer.startTurn(),
    wrapModelCall(request, handler) {
      // The middleware sees every tool call, so it can refuse single ones.
      offer.guard();
      heard.userMessage = lastUserText(request.messages.map(toMessage));
      const { systemMessage } = request;
      const missing = systemMessage.text.includes(offer.instructions) ? "" : offer.instructions;
      const lost = offer.lost([systemMessage.text, missing, ...textsOf(request.messages)]);
      const more = [missing, lost].filter((text) => text !== "").map((text) => `\n\n${text}`);
      return handler({
        ...request,
        tools: narrowTools(offer, request.tools),
        ...(more.length > 0 && { systemMessage: systemMessage.concat(more.join("")) }),
      });
    },
    async wrapToolCall(request, handler) {
      const { toolCall } = request;
      const why = await offer.guard().whyNot(toolCall.name, toolCall.args);
      return why === undefined ? handler(request) : refuse(make, toolCall, why);
    },
  };
}

/** LangChain creates the message itself, as for any tool result. */
async function refuse<Answer>(
  make: MakeTool,
  toolCall: LangChainToolRequest["toolCall"],
  why: string,
): Promise<Answer> {
  const schema = { type: "object", properties: {} };
  const refusing = make(async () => why, { name: toolCall.name, description: "Refuses.", schema });
  const message = await refusing.invoke({ ...toolCall, args: {}, type: "tool_call" });
  return Object.assign(message as object, { status: "error" }) as Answer;
}

interface GivenMessage {
  readonly type?: unknown;
  readonly content?: unknown;
}

/** A LangChain message contains its content more than once. */
function toMessage(message: unknown): { readonly role: unknown; readonly content: unknown } {
  const { type, content } = (message ?? {}) as GivenMessage;
  return { role: type === "human" ? "user" : type, content };
}

function textsOf(messages: readonly unknown[]): readonly string[] {
  return messageTexts(messages.map((message) => toMessage(message).content));
}

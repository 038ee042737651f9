/**
 * `metier/langchain`: skills for agents of LangChain.js 1, as one middleware that brings everything: the tools, what the
 * model is told of them, and the hold on the agent's own tools. For graphs of your own there are `tools` and
 * `instructions`. Nothing of LangChain is imported: you hand over its `tool`, so that your copy is the only one.
 */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import type { ConversationCall, ConversationTool, SkillOffer, SkillOfferOptions } from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted, narrowTools } from "./adapter.ts";
import { callWithText, lastUserText, messageTexts } from "./plain.ts";

/** Options of `langChainSkills`: LangChain's `tool`, and everything that `metier.offerSkills` takes. */
export interface LangChainSkillsOptions extends SkillOfferOptions {
  /** `tool` of the package `langchain`, or of `@langchain/core/tools`. */
  readonly tool: LangChainToolMaker;
}

/** `tool` makes a tool of a function, a name and a JSON Schema. */
export type LangChainToolMaker = (run: never, fields: never) => unknown;

/** A tool that LangChain made. */
export interface LangChainTool {
  /** The name that the model calls, such as `use_skill`. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** Answers input with text, and a tool call with a `ToolMessage`. */
  invoke(input: unknown, config?: unknown): Promise<unknown>;
  /** Everything else that LangChain's tools have. */
  [key: string]: unknown;
}

/** What `wrapModelCall` of a middleware is given, as far as it is used here. */
export interface LangChainModelRequest {
  /** The conversation so far, without the system message. */
  readonly messages: readonly unknown[];
  /** The tools that the model would be sent. */
  readonly tools: readonly unknown[];
  /** The system message; `concat` makes one with more text. */
  readonly systemMessage: { readonly text: string; concat(more: string): unknown };
}

/** What `wrapToolCall` of a middleware is given, as far as it is used here. */
export interface LangChainToolRequest {
  /** The call as the model made it. */
  readonly toolCall: { readonly name: string; readonly args: unknown; readonly id?: string | undefined };
}

/** For `createAgent({ middleware: [skills.middleware] })`. */
export interface LangChainMiddleware {
  /** By which LangChain knows the middleware. */
  name: "MetierSkills";
  /** The skill tools, which the agent has beside its own. */
  tools: LangChainTool[];
  /** A turn begins. */
  beforeAgent(): void;
  /** Tells the model of the skills, gives again what was cut out of the messages, and takes tools away. */
  wrapModelCall<Request extends LangChainModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer,
  ): Answer;
  /** A call that a followed skill disallows is answered with why. */
  wrapToolCall<Request extends LangChainToolRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
}

/** What `langChainSkills` makes: a middleware for one conversation, and its parts for a graph of your own. */
export interface LangChainSkills extends AdaptedSkills {
  /** For the system prompt of a graph of your own; the middleware adds it by itself. `""` without skills. */
  readonly instructions: string;
  /** For `bindTools` and `ToolNode` of a graph of your own; the middleware brings them by itself. */
  readonly tools: LangChainTool[];
  /** For `middleware` of `createAgent`; it brings tools and instructions with it. */
  readonly middleware: LangChainMiddleware;
  /** The instructions that are in none of these messages any more, to be given again; `""` when all are there. */
  restore(messages: readonly unknown[]): string;
  /** Of all tools of a graph of your own, those that the followed skills leave. Before every request. */
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
    throw new UsageError("`langChainSkills` needs `tool` of the package `langchain`.", {
      hint: 'import { tool } from "langchain", then langChainSkills(metier, { tool }).',
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
      // The middleware sees every call of a tool, so that single ones can be refused.
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

/** LangChain makes the message itself, as it does of whatever a tool answers. */
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

/** A message of LangChain says of itself more than once what it holds. */
function toMessage(message: unknown): { readonly role: unknown; readonly content: unknown } {
  const { type, content } = (message ?? {}) as GivenMessage;
  return { role: type === "human" ? "user" : type, content };
}

function textsOf(messages: readonly unknown[]): readonly string[] {
  return messageTexts(messages.map((message) => toMessage(message).content));
}

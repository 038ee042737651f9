/**
 * Skills for any model that takes messages and tools: a system message, tools as JSON Schema, and `call`. Also what
 * every adapter needs from messages: arguments as providers send them, and all text in a message, however nested.
 */
import type { Json } from "@metier/base/json";
import { showValue } from "@metier/base/text";
import {
  type ConversationCall,
  fault,
  type SkillOffer,
  type SkillOfferOptions,
  type ToolOutput,
} from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted, narrowTools } from "./adapter.ts";

/** A system message in the shape most model APIs take. */
export interface PlainMessage {
  /** Always `system`. */
  readonly role: "system";
  /** Text for the model, never empty. */
  readonly content: string;
}

/** A tool as name, description and JSON Schema, to map to your model API. */
export interface PlainTool {
  /** The name the model calls and `call` takes, such as `use_skill`. */
  readonly name: string;
  /** What the model reads about the tool. */
  readonly description: string;
  /** JSON Schema, `type: object`. */
  readonly inputSchema: Readonly<Record<string, Json>>;
}

/** Returned by `plainSkills`: messages and tools to send, and functions that answer one conversation's calls. */
export interface PlainSkills extends AdaptedSkills {
  /** Put these before your own: one system message, or none without skills. */
  readonly messages: readonly PlainMessage[];
  /** Send them with your own; empty without skills. */
  readonly tools: readonly PlainTool[];
  /** Whether one of these tools has this name. */
  has(tool: string): boolean;
  /** `input` is an object, or a JSON string as providers send it. Never throws. */
  call(tool: string, input: unknown, call?: ConversationCall): Promise<ToolOutput>;
  /** The instructions that are no longer in these messages, as a message to add; empty if none are missing. */
  restore(messages: readonly unknown[]): readonly PlainMessage[];
  /**
   * Of all tools you would send, these and yours, returns those that the followed skills allow. Call it before every
   * request.
   */
  narrow<Tool>(tools: readonly Tool[]): Tool[];
  /**
   * Wraps the function that runs your own tools so that it checks each call first: a call that a followed skill
   * disallows isn't made, and is answered with the reason.
   */
  guard<Answer, Rest extends readonly unknown[]>(
    run: (tool: string, input: unknown, ...rest: Rest) => Answer | Promise<Answer>,
  ): (tool: string, input: unknown, ...rest: Rest) => Promise<Answer | ToolOutput>;
}

/**
 * Offers skills to any model that takes messages and tools; make one for each conversation. Throws
 * `UsageError` for options that are not known or not allowed.
 *
 * @example
 * ```ts
 * import { createMetier, plainSkills } from "metier";
 * const skills = await plainSkills(await createMetier());
 * const messages = [...skills.messages, { role: "user", content: "Shorten: it rained all day." }];
 * // For each tool call in the model's answer; the input may be an object or JSON.
 * const { text, isError } = await skills.call("use_skill", { skill: "summarize-text" });
 * ```
 */
export async function plainSkills(metier: OffersSkills, options?: SkillOfferOptions): Promise<PlainSkills> {
  const offer = await metier.offerSkills(options);
  const toMessages = (content: string): readonly PlainMessage[] =>
    content === "" ? [] : [{ role: "system", content }];
  return {
    messages: toMessages(offer.instructions),
    tools: offer.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...adapted(offer),
    narrow: (given) => narrowTools(offer, given),
    guard: (run) => guardRun(offer, run, fault),
    has: (tool) => offer.tools.some(({ name }) => name === tool),
    call: (tool, input, call) => callWithText(offer, tool, input, call),
    restore: (messages) => toMessages(offer.lost(messageTexts(messages))),
  };
}

/** `refuse` turns the reason into the result the program expects. */
export function guardRun<Answer, Rest extends readonly unknown[], Refused>(
  offer: Pick<SkillOffer, "guard">,
  run: (tool: string, input: unknown, ...rest: Rest) => Answer | Promise<Answer>,
  refuse: (why: string) => Refused,
): (tool: string, input: unknown, ...rest: Rest) => Promise<Answer | Refused> {
  const guard = offer.guard();
  return async (tool, input, ...rest) => {
    const why = await guard.whyNot(tool, input);
    return why === undefined ? run(tool, input, ...rest) : refuse(why);
  };
}

/** Never throws: text that isn't JSON is answered like any other wrong input. */
export async function callWithText(
  offer: Pick<SkillOffer, "call">,
  tool: string,
  given: unknown,
  call?: ConversationCall,
): Promise<ToolOutput> {
  if (typeof given !== "string") return offer.call(tool, given ?? {}, call);
  // Some providers send nothing for a call without arguments.
  if (given.trim() === "") return offer.call(tool, {}, call);
  let input: unknown;
  try {
    input = JSON.parse(given);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fault(
      `The arguments of ${showValue(tool)} must be a JSON object: ${why}. Call it again with valid JSON.`,
    );
  }
  return offer.call(tool, input, call);
}

/** Deeper than any format nests; anything below isn't text for a model. */
const MOST_LEVELS = 8;

export function messageTexts(value: unknown, level = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return [];
  return Object.values(value).flatMap((part) => messageTexts(part, level + 1));
}

/** The user's last message, verbatim; `undefined` if it has no text. */
export function lastUserText(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast(isOfUser);
  if (last === undefined) return undefined;
  const { content } = last;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: { readonly text?: unknown } | null) =>
    typeof part?.text === "string" ? [part.text] : [],
  );
  return texts.length > 0 ? texts.join("\n") : undefined;
}

function isOfUser(message: unknown): message is { readonly content: unknown } {
  return (
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    message.role === "user" &&
    "content" in message
  );
}

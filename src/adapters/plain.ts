/** Skills for any model that takes messages and tools: a system message, tools as JSON Schema, and `call`. */
import type { Conversation } from "../disclose/conversation.ts";
import type { ConversationCall } from "../run/conversation-tool.ts";
import type { SkillOfferOptions } from "../run/offer-skills.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Json } from "../skill/manifest.ts";
import type { ToolOutput } from "../tools/tool.ts";
import { callWithText } from "./call-with-text.ts";
import { messageTexts } from "./message-texts.ts";

export interface PlainMessage {
  readonly role: "system";
  readonly content: string;
}

export interface PlainTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, `type: object`. */
  readonly inputSchema: Readonly<Record<string, Json>>;
}

export interface PlainSkills {
  /** To put before your own: one system message, or none without skills. */
  readonly messages: readonly PlainMessage[];
  readonly tools: readonly PlainTool[];
  /** What the conversation was given; keep it to go on later. */
  readonly conversation: Conversation;
  /** Whether a tool of this name is one of these. */
  has(tool: string): boolean;
  /** `input` is an object, or JSON in a string as providers send it. Never throws. */
  call(tool: string, input: unknown, call?: ConversationCall): Promise<ToolOutput>;
  /** The instructions that are in none of these messages any more, as a message to add; none when all are there. */
  restore(messages: readonly unknown[]): readonly PlainMessage[];
}

export async function plainSkills(metier: Metier, options?: SkillOfferOptions): Promise<PlainSkills> {
  const offer = await metier.offerSkills(options);
  const toMessages = (content: string): readonly PlainMessage[] =>
    content === "" ? [] : [{ role: "system", content }];
  return {
    messages: toMessages(offer.instructions),
    tools: offer.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    conversation: offer.conversation,
    has: (tool) => offer.tools.some(({ name }) => name === tool),
    call: (tool, input, call) => callWithText(offer, tool, input, call),
    restore: (messages) => toMessages(offer.lost(messageTexts(messages))),
  };
}

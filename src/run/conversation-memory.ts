/** The memory of a conversation that begins: nothing was given, and nothing untrusted is in it. */
import { createConversation } from "../disclose/conversation.ts";
import { createConversationTrust } from "../invoke/conversation-trust.ts";
import type { ConversationMemory } from "../invoke/inline.ts";

export function createMemory(): ConversationMemory {
  return { conversation: createConversation(), trust: createConversationTrust() };
}

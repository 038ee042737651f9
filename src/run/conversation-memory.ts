/** What a conversation remembers of the skills in it: what it was given, and whether anything untrusted is in it. */
import { type Conversation, createConversation } from "../disclose/conversation.ts";
import { createConversationTrust } from "../invoke/conversation-trust.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import { serverOf } from "../skill/remote-name.ts";
import type { Trust } from "../skill/skill.ts";

/** Of a conversation that begins. */
export function createMemory(): ConversationMemory {
  return { conversation: createConversation(), trust: createConversationTrust() };
}

/** Of one that a host keeps: whatever gave it an untrusted skill, and one that is not known any more, it counts. */
export function rememberConversation(
  conversation: Conversation,
  trustOf: (skill: string) => Trust | undefined,
): ConversationMemory {
  const noted = createConversationTrust();
  const untrusted = (): readonly string[] =>
    conversation.activations.map(({ name }) => name).filter((name) => trustOf(name) !== "trusted");
  return {
    conversation,
    trust: {
      get taintedBy() {
        return noted.taintedBy ?? untrusted()[0];
      },
      get unapproved() {
        return noted.unapproved ?? untrusted().find((name) => serverOf(name) !== undefined);
      },
      note: (skill, trust) => noted.note(skill, trust),
    },
  };
}

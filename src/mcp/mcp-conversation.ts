/**
 * What a connection was given. A client may hold several conversations over one connection, so no text is ever answered
 * with "you have it already"; but that anything untrusted was given counts for all of them.
 */
import type { Conversation } from "../disclose/conversation.ts";
import type { Activation } from "../disclose/protect.ts";

export function createMcpConversation(): Conversation {
  /** One for each skill: what matters is whose text was given. */
  const given = new Map<string, Activation>();
  return {
    get activations() {
      return [...given.values()];
    },
    activate(activation, wrapped) {
      given.set(activation.name, activation);
      return { text: wrapped, repeated: false };
    },
    forget: () => undefined, // Nobody can tell what has left a conversation that is not ours.
  };
}

/** A file of the skill was given, outside of its instructions. */
export function noteGiven(conversation: Conversation, name: string, digest: string): void {
  conversation.activate({ name, digest }, "");
}

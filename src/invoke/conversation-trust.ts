/** Whether a conversation has been given an untrusted body. It stays so for the rest of it, whatever comes after. */
import type { Trust } from "../skill/skill.ts";

export interface ConversationTrust {
  /** The first untrusted skill whose instructions are in the conversation; keep it to go on later. */
  readonly taintedBy: string | undefined;
  /** The instructions of this skill are in the conversation now. */
  note(skill: string, trust: Trust): void;
}

export function createConversationTrust(taintedBy?: string): ConversationTrust {
  let first = taintedBy;
  return {
    get taintedBy() {
      return first;
    },
    note(skill, trust) {
      if (trust === "untrusted") first ??= skill;
    },
  };
}

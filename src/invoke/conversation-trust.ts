/** Whether a conversation has been given an untrusted body. It stays so for the rest of it, whatever comes after. */
import { serverOf } from "../skill/remote-name.ts";
import type { Trust } from "../skill/skill.ts";

export interface ConversationTrust {
  /** The first untrusted skill whose instructions are in the conversation; keep it to go on later. */
  readonly taintedBy: string | undefined;
  /** The first of them that an MCP server sent: while it is there, nothing is executed. */
  readonly unapproved: string | undefined;
  /** The instructions of this skill are in the conversation now. */
  note(skill: string, trust: Trust): void;
}

export function createConversationTrust(taintedBy?: string): ConversationTrust {
  let first = taintedBy;
  let unapproved = taintedBy !== undefined && serverOf(taintedBy) !== undefined ? taintedBy : undefined;
  return {
    get taintedBy() {
      return first;
    },
    get unapproved() {
      return unapproved;
    },
    note(skill, trust) {
      if (trust !== "untrusted") return;
      first ??= skill;
      if (serverOf(skill) !== undefined) unapproved ??= skill;
    },
  };
}

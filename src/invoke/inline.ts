/**
 * Inline activation: the instructions as they go into the caller's own conversation, between marks, once. From then on
 * the conversation is trusted no more than they are.
 */
import type { ActivationAnswer, Conversation } from "../disclose/conversation.ts";
import type { SkillResource } from "../disclose/list-resources.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { tellOrigin } from "../disclose/tell-origin.ts";
import { wrapInstructions } from "../disclose/wrap-instructions.ts";
import type { ConversationTrust } from "./conversation-trust.ts";
import type { PreparedInvocation } from "./invocation.ts";

/** What a conversation remembers of the skills in it. */
export interface ConversationMemory {
  readonly conversation: Conversation;
  readonly trust: ConversationTrust;
}

/** The same instructions a second time are answered with one sentence; other arguments make other instructions. */
export function activateInline(
  { skill, instructions: text, digest, trust }: PreparedInvocation,
  memory: ConversationMemory,
  resources: readonly SkillResource[] = [],
): ActivationAnswer {
  memory.trust.note(skill.name, trust.level);
  const { name } = skill;
  const wrapped = wrapInstructions({
    name,
    text,
    digest,
    resources,
    ...(skill.remote && { origin: tellOrigin(skill.remote) }),
    ...(hasFolder(skill) && { directory: skill.directory }),
  });
  return memory.conversation.activate({ name, digest }, wrapped);
}

/**
 * What a conversation is trusted with: whether an untrusted text is in it, what that leaves to a skill that is started from
 * it, and how the instructions of a skill come into it.
 */
import { forReader } from "@metier/base/text";
import {
  type ActivatedText,
  type ActivationAnswer,
  type Conversation,
  createConversation,
  hasFolder,
  type SkillResource,
  serverOf,
  type Trust,
  type TrustDecision,
  tellOrigin,
  wrapInstructions,
} from "@metier/skills";
import { lowerTrust } from "@metier/skills/trust";
import type { Invocation, PreparedInvocation } from "./invocation.ts";

export interface ConversationTrust {
  /** The first untrusted skill whose instructions are in the conversation; keep it to go on later. */
  readonly taintedBy: string | undefined;
  /** The first of them that an MCP server sent: while it is there, nothing is executed. */
  readonly unapproved: string | undefined;
  /** The instructions of this skill are in the conversation now. */
  note(skill: string, trust: Trust): void;
}

/** Whether a conversation has been given an untrusted body. It stays so for the rest of it, whatever comes after. */
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

export interface EffectiveTrust extends TrustDecision {
  /** What raises it, if anything does. */
  readonly hint: string;
}

/**
 * What a skill is trusted with in this invocation: its own trust, or less. Chaining never raises, and once an untrusted
 * body is in a conversation, whatever is started from there counts as untrusted.
 */
export function effectiveTrust(
  name: string,
  own: TrustDecision,
  { callerTrust = "trusted", chain = [] }: Pick<Invocation, "callerTrust" | "chain">,
  conversation?: ConversationTrust,
): EffectiveTrust {
  const taint = conversation?.taintedBy;
  if (own.level === "untrusted") {
    const approve = serverOf(name) === undefined ? "trust" : "remote approve";
    const how =
      serverOf(name) === undefined ? "name its folder in `trustedPaths`" : `\`remote.approve("${name}")\``;
    const hint = forReader({
      command: `Read it with \`metier read ${name}\`; \`metier ${approve} ${name}\` trusts it.`,
      program: `Read it, then ${how} to trust it.`,
      upload: (grant) => `Read it; an admin trusts it with ${grant}.`,
    });
    return { ...own, hint };
  }
  if (lowerTrust(own.level, callerTrust) === "untrusted") {
    const caller = chain.at(-1);
    return {
      level: "untrusted",
      reason: `It was invoked by ${caller === undefined ? "an untrusted run" : `the untrusted skill \`${caller}\``}, and cannot be given more than its caller has.`,
      hint: `Invoke \`${name}\` directly, or trust its caller.`,
    };
  }
  if (taint !== undefined) {
    return {
      level: "untrusted",
      reason: `The untrusted skill \`${taint}\` is in this conversation, so nothing that is started from it is trusted.`,
      hint: `Use \`${name}\` in a new conversation.`,
    };
  }
  return { ...own, hint: "" };
}

/** What a conversation remembers of the skills in it. */
export interface ConversationMemory {
  readonly conversation: Conversation;
  readonly trust: ConversationTrust;
}

/**
 * Inline: the instructions as they go into the caller's own conversation, between marks, once. The same a second time are
 * answered with one sentence; other arguments make other instructions.
 */
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
    origin: skill.remote && tellOrigin(skill.remote),
    directory: hasFolder(skill) ? skill.directory : undefined,
  });
  return memory.conversation.activate({ name, digest }, wrapped);
}

/** Of a conversation that begins, or goes on with what was in it. */
export function createMemory(
  activations: readonly ActivatedText[] = [],
  taintedBy?: string,
): ConversationMemory {
  return { conversation: createConversation(activations), trust: createConversationTrust(taintedBy) };
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

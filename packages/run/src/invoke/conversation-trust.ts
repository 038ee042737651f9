/**
 * How far a conversation is trusted: whether it contains untrusted text, what that leaves to a skill started from it,
 * and how a skill's instructions get into it.
 */
import { forReader } from "@metier/base/text";
import {
  type ActivatedText,
  type ActivationAnswer,
  type Conversation,
  createConversation,
  hasFolder,
  type Skill,
  type SkillResource,
  serverOf,
  type Trust,
  type TrustDecision,
  tellOrigin,
  wrapInstructions,
} from "@metier/skills";
import { lowerTrust, shownCommand, wordsForSkill } from "@metier/skills/trust";
import type { Invocation, PreparedInvocation } from "./invocation.ts";

export interface ConversationTrust {
  /** The first untrusted skill whose instructions are in the conversation; keep it to continue later. */
  readonly taintedBy: string | undefined;
  /** The first of them from an MCP server: while it is there, nothing is executed. */
  readonly unapproved: string | undefined;
  /** This skill's instructions are now in the conversation. */
  note(skill: string, trust: Trust): void;
}

/** Whether a conversation contains an untrusted body. Once it does, that stays. */
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
  /** What raises it, if anything. */
  readonly hint: string;
}

/**
 * A skill's trust in this invocation: its own, or less. Chaining never raises it, and once an untrusted body is in a
 * conversation, everything started from it is untrusted.
 */
export function effectiveTrust(
  { name, scope, root }: Pick<Skill, "name" | "scope" | "root">,
  own: TrustDecision,
  { callerTrust = "trusted", chain = [] }: Pick<Invocation, "callerTrust" | "chain">,
  conversation?: ConversationTrust,
): EffectiveTrust {
  const taint = conversation?.taintedBy;
  if (own.level === "untrusted") {
    const approve = serverOf(name) === undefined ? ["trust"] : ["remote", "approve"];
    const words = wordsForSkill(name, scope, root);
    const how =
      serverOf(name) === undefined ? "add its folder to `trustedPaths`" : `\`remote.approve("${name}")\``;
    const hint = forReader({
      command: `Read it with ${shownCommand("read", ...words)}, then trust it with ${shownCommand(...approve, ...words)}.`,
      program: `Read it, then ${how} to trust it.`,
      upload: (grant) => `Read it, then have an admin trust it with ${grant}.`,
    });
    return { ...own, hint };
  }
  if (lowerTrust(own.level, callerTrust) === "untrusted") {
    const caller = chain.at(-1);
    return {
      level: "untrusted",
      reason: `It was invoked by ${caller === undefined ? "an untrusted run" : `the untrusted skill \`${caller}\``}, and cannot have more rights than its caller.`,
      hint: `Invoke \`${name}\` directly, or trust its caller.`,
    };
  }
  if (taint !== undefined) {
    return {
      level: "untrusted",
      reason: `The untrusted skill \`${taint}\` is in this conversation, so nothing started from it is trusted.`,
      hint: `Use \`${name}\` in a new conversation.`,
    };
  }
  return { ...own, hint: "" };
}

/** What a conversation remembers about its skills. */
export interface ConversationMemory {
  readonly conversation: Conversation;
  readonly trust: ConversationTrust;
}

/**
 * Inline: the instructions as they go into the caller's conversation, once, between marks. A repeat is answered with
 * one sentence; other arguments make other instructions.
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

/** For a conversation that starts, or continues with its earlier content. */
export function createMemory(
  activations: readonly ActivatedText[] = [],
  taintedBy?: string,
): ConversationMemory {
  return { conversation: createConversation(activations), trust: createConversationTrust(taintedBy) };
}

/**
 * For a conversation kept by a host: an untrusted skill counts however it got there, and so does one that no longer
 * exists.
 */
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

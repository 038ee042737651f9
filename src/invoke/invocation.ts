/** What can be asked of a skill, and what the checks make of it: a prepared invocation or a refusal. */
import type { CapabilityCaller } from "../capabilities/capability.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { InvocationSource } from "../foundation/errors.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill, TrustDecision } from "../skill/skill.ts";

/** Where the message came from, for a program with chats: passed on to whoever performs a capability. */
type ChatFacts = Pick<
  CapabilityCaller,
  "chatTitle" | "provider" | "threadId" | "messageId" | "sourceUsername" | "sourceDisplayName" | "timezone"
>;

export interface Caller extends ChatFacts {
  readonly userId?: string;
  readonly chatId?: string;
  /** Compared in lower case; an unknown one is denied where a skill is restricted. */
  readonly chatType?: string;
  readonly sessionId?: string;
  /** The person at this machine, as the command line knows them: their skills' data is that of runs without a user. */
  readonly isLocal?: boolean;
}

/** The seeds' shapes in one: what `use_skill` takes. */
export interface SkillRequest {
  readonly skill: string;
  readonly message?: string;
  readonly context?: string;
  readonly arguments?: string;
  readonly input?: Json;
}

export interface Invocation extends SkillRequest {
  readonly source: InvocationSource;
  readonly caller: Caller;
  /** The skills that are running already, outermost first, when one starts another. */
  readonly chain?: readonly string[];
  /** What the caller's own trust allows at most; absent when the caller is no run. */
  readonly callerTrust?: "trusted" | "untrusted";
}

/** In the order of the checks. */
export const REFUSAL_REASONS = [
  "not-found",
  "disabled",
  "unavailable",
  "not-invocable",
  "access",
  "blocked",
  "trust",
  "input",
  "tools",
  "environment",
  "capabilities",
  "cycle",
  "depth",
  "unreadable",
  "needs-run",
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface RefusalCause {
  readonly reason: RefusalReason;
  /** What, which value, what is allowed. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  readonly data: Readonly<Record<string, Json>>;
}

export interface Refusal extends RefusalCause {
  readonly skill: string;
  /** The other checks that failed. */
  readonly also: readonly RefusalCause[];
}

/** Every check was passed, and the file was read anew. */
export interface PreparedInvocation {
  readonly skill: Skill;
  readonly source: InvocationSource;
  readonly caller: Caller;
  readonly chain: readonly string[];
  /** Inline: the text goes back to the caller's own conversation. */
  readonly execution: "inline" | "isolated";
  /** Of the skill, or lower: chaining never raises. */
  readonly trust: TrustDecision;
  /** The body with arguments put in; invisible characters taken out. */
  readonly instructions: string;
  /** `sha256:…` of the instructions. */
  readonly digest: string;
  readonly message?: string;
  readonly context?: string;
  /** Checked against `input-schema`, defaults applied. */
  readonly input?: Json;
  /** Declared variables that config provides. */
  readonly env: Readonly<Record<string, { readonly value: string; readonly secret: boolean }>>;
  readonly diagnostics: readonly Diagnostic[];
}

export type PrepareOutcome =
  | { readonly ok: true; readonly prepared: PreparedInvocation }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * The vocabulary of capabilities: what a provider offers, for whom it is performed, and which accounts a user has linked.
 * A capability is an operation on a sensitive system that the host performs; no credential enters a run.
 */
import type { Json } from "../skill/manifest.ts";

export type JsonObject = Readonly<Record<string, Json>>;

export interface CapabilityOperation {
  readonly name: string;
  readonly description: string;
  /** Default: `true`. */
  readonly requiresAuth: boolean;
  /** Changes something outside: it is confirmed by a person, and recorded before and after. Default: `false`. */
  readonly mutating: boolean;
  /** The provider promises that a second call with the same idempotency key changes nothing more. Default: `false`. */
  readonly idempotent: boolean;
  /** JSON Schemas; what a caller sends and what a provider answers are held to them. */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
}

export interface CapabilityDefinition {
  /** `namespace.name`, where the namespace is the provider's. */
  readonly id: string;
  readonly description: string;
  /** Only in private chats, unless `allowedChatTypes` says otherwise. */
  readonly sensitive: boolean;
  /** In lower case. Absent: nothing was said. */
  readonly allowedChatTypes?: readonly string[];
  /** Sorted by name; at least one. */
  readonly operations: readonly CapabilityOperation[];
}

/**
 * For whom an operation is performed. Only ever made from a verified token, or by the program that embeds us: nothing
 * that a run says about itself gets in here.
 */
export interface CapabilityCaller {
  readonly userId: string;
  readonly chatId?: string;
  readonly chatType?: string;
  readonly chatTitle?: string;
  /** Of the chat program, such as `telegram`. */
  readonly provider?: string;
  readonly sessionKey?: string;
  readonly threadId?: string;
  readonly sourceUsername?: string;
  readonly sourceDisplayName?: string;
  readonly messageId?: string;
  /** Word for word: what completes a sign-in is looked for here. */
  readonly currentUserMessage?: string;
  readonly timezone?: string;
  readonly runId?: string;
  readonly skill?: string;
  /** What the run's skill declares, and so all that it may use. Absent: no run asks, but the user or a program. */
  readonly declared?: readonly string[];
}

export interface LinkedAccount {
  readonly accountRef: string;
  readonly accountName?: string;
  readonly accountEmail?: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A capability as a caller sees it. */
export interface CapabilityListing {
  readonly id: string;
  readonly description: string;
  readonly sensitive: boolean;
  /** Empty: every chat. */
  readonly allowedChatTypes: readonly string[];
  /** In this chat, for this caller. */
  readonly available: boolean;
  /** Of any operation. */
  readonly requiresAuth: boolean;
  readonly authenticated: boolean;
  readonly linkedAccounts: readonly LinkedAccount[];
  readonly operations: readonly CapabilityOperation[];
}

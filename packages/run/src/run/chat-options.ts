/** The types of `metier.chat`, and the check of its options. */
import { UsageError } from "@metier/base/errors";
import type { SavedChat } from "../events/saved-chat.ts";
import type { GivenModel } from "../model/model-request.ts";
import { checkCallOptions } from "./call-options.ts";
import type { Budget, RunLimits } from "./run-limits.ts";
import type { RunHandle, RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

/** The limits of a chat: per turn, and for all turns. */
export interface ChatLimits extends RunLimits {
  /** For all turns together, including the skills they run. The other limits are per turn. */
  readonly maxConversationTokens: number;
  /** The same in money: US dollars, or the currency of the configured prices. Absent: no limit. */
  readonly maxConversationCost: number;
}

/** Where chats are kept, for a program with its own storage: a database, a cache. */
export interface ChatStore {
  /** The saved chat; `undefined` if there is none. */
  load(id: string): SavedChat | undefined | Promise<SavedChat | undefined>;
  /** Replaces the chat with this `id` as a whole, after every turn. A failure becomes a diagnostic of the turn. */
  save(chat: SavedChat): unknown;
}

/**
 * Options of `metier.chat`.
 *
 * @example
 * ```ts
 * const chat = await metier.chat({ instructions: "You help our customers.", keep: store, resume: id });
 * const { text, notice } = await chat.send("Where is my order?");
 * ```
 */
export interface ChatOptions
  extends Pick<RunRequest, "caller" | "approve" | "askUser" | "confirm" | "tools" | "write" | "onEvent"> {
  /** An alias, `provider/model`, or an AI SDK model. */
  readonly model?: string | GivenModel | undefined;
  /** What each turn and the whole chat may use. Default: the config's limits for a turn, none for the chat. */
  readonly limits?: Partial<ChatLimits> | undefined;
  /**
   * Who the model is and how it answers; replaces "You are the user's assistant". Information about its folders, skills
   * and untrusted text follows. Not saved with a chat: pass it again when the chat continues.
   */
  readonly instructions?: string | undefined;
  /**
   * Earlier messages, for a program that stores them itself: from the user, the model and tools, as AI SDK messages.
   * They are only words: skills in them aren't active. For active skills, use `from` or `resume`.
   */
  readonly history?: readonly ChatMessage[] | undefined;
  /**
   * Saves the chat after every turn, without secrets: `true` in the state folder, for 30 days; or in the program's
   * store. Default: `false`.
   */
  readonly keep?: boolean | ChatStore | undefined;
  /** Continues a kept chat: its id or, for chats in the state folder, `last` for the latest one of this folder. */
  readonly resume?: string | undefined;
  /** Continues what `chat.toJSON()` returned. */
  readonly from?: SavedChat | undefined;
  /**
   * Signs what is saved, so that nobody can change its trust; at least 32 characters. Use the same key on all servers
   * that continue each other's chats. Default: this machine's key.
   */
  readonly signingKey?: string | undefined;
}

/**
 * The outcome of one chat turn: a result like a run's.
 *
 * @example
 * ```ts
 * const turn: ChatTurn = await chat.send("Where is my order?");
 * console.log(turn.notice ?? turn.text);
 * ```
 */
export interface ChatTurn extends RunResult {
  /** Why there is no full answer, and what to do. Absent if there is one. */
  readonly notice?: string;
}

/** An AI SDK message (`ModelMessage`). */
export interface ChatMessage {
  /** Who said it: `user`, `assistant` or `tool`. */
  readonly role: string;
  /** A string, or the parts of the message. */
  readonly content: unknown;
}

/**
 * A conversation with a main agent that may use every usable skill; from `metier.chat`.
 *
 * @example
 * ```ts
 * const chat: Chat = await metier.chat({ caller: { userId: "ada" } });
 * await chat.send("Where is my order?");
 * const saved = JSON.stringify(chat); // later: metier.chat({ from: JSON.parse(saved) })
 * ```
 */
export interface Chat {
  /** The id to keep and continue it by. */
  readonly id: string;
  /** The next turn's model, for people: `anthropic/claude-…`. */
  readonly model: string;
  /** For a chat that continues: its earlier state. */
  readonly resumed?:
    | {
        /** How many turns it had. */
        readonly turns: number;
        /** When its last turn ended, in ISO 8601. */
        readonly updatedAt: string;
        /** `false`: it was changed, or signed with another key. Its skills aren't active, and it is trusted less. */
        readonly verified: boolean;
      }
    | undefined;
  /** What is sent to the model again with the next message. */
  readonly history: readonly ChatMessage[];
  /** What the conversation has used, including the skills it ran. */
  readonly budget: Pick<Budget, "usage" | "cost" | "isPriced" | "reached">;
  /** Removes the secrets that the chat knows from a text. */
  redact(text: string): string;
  /** What can be called with `/name`. */
  offers(): Promise<readonly ChatOffer[]>;
  /** Switches the model from the next turn on. Throws like `chat` if there is none, and then changes nothing. */
  useModel(name: string): Promise<void>;
  /** Replaces the history with a summary that the model writes. Skill instructions stay verbatim. */
  compact(options?: SendOptions): Promise<ChatTurn>;
  /**
   * One turn: a message, or `/name arguments` for a skill or a custom command. Never rejects for what happens in it.
   * One at a time: a second call before the first has ended throws `UsageError`.
   */
  send(text: string, options?: SendOptions): Promise<ChatTurn>;
  /** The same as streams: text, events and responses for clients during the turn. */
  stream(text: string, options?: SendOptions): RunHandle<ChatTurn>;
  /**
   * The chat as plain JSON, up to its last whole turn and without secrets, for `metier.chat({ from })` in any process.
   * Signed: a changed one can be read, but is trusted less.
   */
  toJSON(): SavedChat;
  /**
   * Another chat that continues from here or an earlier turn, while this one stays unchanged. It has the same skills
   * and a copy of the work folder's files, and asks again for approvals.
   */
  branch(options?: BranchOptions): Promise<Chat>;
}

/** Where a branch continues from. */
export interface BranchOptions {
  /** How many user messages to keep, with their answers; 0: none. Default: all. */
  readonly turns?: number | undefined;
}

/** Something that can be called with `/name`. */
export interface ChatOffer {
  /** The name after the slash. */
  readonly name: string;
  /** A skill, or a custom command from a file. */
  readonly kind: "skill" | "command";
  /** What it is for. */
  readonly description: string;
  /** Which arguments it takes, such as `[file]`; absent if it doesn't say. */
  readonly argumentHint?: string;
}

/** Options of a turn. */
export interface SendOptions {
  /** Cancels the turn; the chat can continue. */
  readonly signal?: AbortSignal | undefined;
  /** A file to record the events of the main agent's turn, to be replayed by a chat. */
  readonly record?: string | undefined;
}

const SHORTEST_KEY = 32;

/** Throws `UsageError` for an unknown or invalid option. */
export function checkChatOptions(options: ChatOptions): void {
  checkCallOptions("chat", options);
  const { instructions, history, keep, resume, from, signingKey } = options;
  const begins = Object.entries({ history, resume, from }).filter(([, value]) => value !== undefined);
  if (begins.length > 1) {
    const names = begins.map(([name]) => `\`${name}\``).join(" and ");
    throw new UsageError(`Start a chat with one of ${names}, not both.`);
  }
  if (instructions !== undefined && typeof instructions !== "string") {
    throw new UsageError("`instructions` of `chat` must be a string.");
  }
  if (resume !== undefined && typeof resume !== "string") {
    throw new UsageError("`resume` of `chat` must be a chat id.");
  }
  if (keep !== undefined && typeof keep !== "boolean" && !isStore(keep)) {
    throw new UsageError("`keep` of `chat` must be `true`, `false`, or a store with `load` and `save`.");
  }
  if (signingKey !== undefined && (typeof signingKey !== "string" || signingKey.length < SHORTEST_KEY)) {
    throw new UsageError(
      `\`signingKey\` of \`chat\` must be a string of at least ${SHORTEST_KEY} characters.`,
      {
        hint: "Generate one with `openssl rand -hex 32`, and keep it with the server's other secrets.",
      },
    );
  }
}

function isStore(value: unknown): value is ChatStore {
  const { load, save } = (value ?? {}) as Partial<ChatStore>;
  return typeof load === "function" && typeof save === "function";
}

/** How many user messages a branch keeps. */
export function readBranch(options: BranchOptions, most: number): number {
  checkCallOptions("chat.branch", options);
  const { turns = most } = options;
  if (Number.isInteger(turns) && turns >= 0 && turns <= most) return turns;
  throw new UsageError(`\`turns\` of \`chat.branch\` must be a whole number from 0 to ${most}.`);
}

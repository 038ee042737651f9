/** What a chat is asked for with, and what it gives: the types of `metier.chat`, and the check of its options. */
import { UsageError } from "@metier/base/errors";
import type { SavedChat } from "../events/saved-chat.ts";
import type { GivenModel } from "../model/model-request.ts";
import { checkCallOptions } from "./call-options.ts";
import type { Budget, RunLimits } from "./run-limits.ts";
import type { RunHandle, RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

/** The limits of a chat: those of each turn, and of all of them. */
export interface ChatLimits extends RunLimits {
  /** Of all turns together, with the skills they run. The other limits are those of one turn. */
  readonly maxConversationTokens: number;
  /** The same in money: US dollars, or the currency of the configured prices. Absent: no limit. */
  readonly maxConversationCost: number;
}

/** Where chats are kept, for a program that has a place of its own: a database, a cache. */
export interface ChatStore {
  /** The chat as it was saved; `undefined` when there is none. */
  load(id: string): SavedChat | undefined | Promise<SavedChat | undefined>;
  /** Replaces the chat of this `id` as a whole; after every turn. One that fails is a diagnostic of the turn. */
  save(chat: SavedChat): unknown;
}

/**
 * What `metier.chat` takes.
 *
 * @example
 * ```ts
 * const chat = await metier.chat({ instructions: "You help our customers.", keep: store, resume: id });
 * const { text, notice } = await chat.send("Where is my order?");
 * ```
 */
export interface ChatOptions
  extends Pick<RunRequest, "caller" | "approve" | "askUser" | "confirm" | "tools" | "write" | "onEvent"> {
  /** An alias, `provider/model`, or a model of the AI SDK. */
  readonly model?: string | GivenModel | undefined;
  /** What each turn and the whole chat may use. Default: the config's limits for a turn, none for the chat. */
  readonly limits?: Partial<ChatLimits> | undefined;
  /**
   * Who the model is and how it answers, in place of "You are the user's assistant". What it is told of its folders, its
   * skills and of texts that are only data follows. Not saved with a chat: give it again when the chat goes on.
   */
  readonly instructions?: string | undefined;
  /**
   * What was said before, for a program that keeps messages itself: those of the user, of the model, and of tools, as the AI
   * SDK has them. They are words only: skills in them are not active. `from` and `resume` are for those.
   */
  readonly history?: readonly ChatMessage[] | undefined;
  /**
   * Saves the chat after every turn, without secrets: `true` in the state folder, for 30 days; or in a store of the
   * program. Default: `false`.
   */
  readonly keep?: boolean | ChatStore | undefined;
  /** Goes on with a kept chat: its id, or, of those in the state folder, `last` for the last one of this folder. */
  readonly resume?: string | undefined;
  /** Goes on with what `chat.toJSON()` gave. */
  readonly from?: SavedChat | undefined;
  /**
   * Signs what is saved, so that nobody can change what it is trusted with; at least 32 characters. Give the same one on all
   * servers that go on with each other's chats. Default: a key of this machine.
   */
  readonly signingKey?: string | undefined;
}

/**
 * What became of one turn of a chat: a result like that of a run.
 *
 * @example
 * ```ts
 * const turn: ChatTurn = await chat.send("Where is my order?");
 * console.log(turn.notice ?? turn.text);
 * ```
 */
export interface ChatTurn extends RunResult {
  /** Why there is no whole answer, and what to do. Absent when there is one. */
  readonly notice?: string;
}

/** A message as the AI SDK keeps it (`ModelMessage`). */
export interface ChatMessage {
  /** Who said it: `user`, `assistant` or `tool`. */
  readonly role: string;
  /** A text, or the parts of the message. */
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
  /** By which it is kept and continued. */
  readonly id: string;
  /** Of the next turn, for people: `anthropic/claude-…`. */
  readonly model: string;
  /** What was there before, for a chat that goes on. */
  readonly resumed?:
    | {
        /** How many turns it had. */
        readonly turns: number;
        /** When its last turn ended, in ISO 8601. */
        readonly updatedAt: string;
        /** `false`: it was changed, or signed with another key. Its skills are not active, and it is trusted with less. */
        readonly verified: boolean;
      }
    | undefined;
  /** What the model is sent again with the next message. */
  readonly history: readonly ChatMessage[];
  /** What the conversation has used, with the skills it ran. */
  readonly budget: Pick<Budget, "usage" | "cost" | "isPriced" | "reached">;
  /** A text without the secrets that the chat knows of. */
  redact(text: string): string;
  /** What can be called by `/name`. */
  offers(): Promise<readonly ChatOffer[]>;
  /** Another model from the next turn. Throws as `chat` does when there is none, and then changes nothing. */
  useModel(name: string): Promise<void>;
  /** Replaces the history by a summary that the model writes. Instructions of skills stay word for word. */
  compact(options?: SendOptions): Promise<ChatTurn>;
  /**
   * One turn: a message, or `/name arguments` for a skill or a custom command. Never rejects for what happens in it.
   * One at a time: a second one before the first has ended throws `UsageError`.
   */
  send(text: string, options?: SendOptions): Promise<ChatTurn>;
  /** The same as streams: text, events and responses for clients while the turn is under way. */
  stream(text: string, options?: SendOptions): RunHandle<ChatTurn>;
  /**
   * The chat as plain JSON, up to its last whole turn and without secrets, for `metier.chat({ from })` in any process. Signed:
   * one that was changed on the way is read, but trusted with less.
   */
  toJSON(): SavedChat;
  /**
   * Another chat that goes on from here, or from an earlier turn, while this one stays as it is. It has the same skills and
   * a copy of the files in the work folder, and asks anew for what was approved.
   */
  branch(options?: BranchOptions): Promise<Chat>;
}

/** From where a branch goes on. */
export interface BranchOptions {
  /** So many messages of the user stay, with their answers; 0: none. Default: all. */
  readonly turns?: number | undefined;
}

/** What can be called by `/name`. */
export interface ChatOffer {
  /** What stands after the slash. */
  readonly name: string;
  /** A skill, or a custom command from a file. */
  readonly kind: "skill" | "command";
  /** What it is for. */
  readonly description: string;
  /** Which arguments it takes, such as `[file]`; absent when it does not say. */
  readonly argumentHint?: string;
}

/** What a turn takes beside its message. */
export interface SendOptions {
  /** Cancels the turn; the chat goes on after it. */
  readonly signal?: AbortSignal | undefined;
  /** A file that keeps the events of the main agent's turn, to be replayed by a chat of its own. */
  readonly record?: string | undefined;
}

const SHORTEST_KEY = 32;

/** Throws `UsageError` for an option that is not known, or cannot be used. */
export function checkChatOptions(options: ChatOptions): void {
  checkCallOptions("chat", options);
  const { instructions, history, keep, resume, from, signingKey } = options;
  const begins = Object.entries({ history, resume, from }).filter(([, value]) => value !== undefined);
  if (begins.length > 1) {
    const names = begins.map(([name]) => `\`${name}\``).join(" and ");
    throw new UsageError(`A chat begins with one of ${names}, not with both.`);
  }
  if (instructions !== undefined && typeof instructions !== "string") {
    throw new UsageError("`instructions` of `chat` must be a text.");
  }
  if (resume !== undefined && typeof resume !== "string") {
    throw new UsageError("`resume` of `chat` must be the id of a chat.");
  }
  if (keep !== undefined && typeof keep !== "boolean" && !isStore(keep)) {
    throw new UsageError("`keep` of `chat` must be `true`, `false`, or a store with `load` and `save`.");
  }
  if (signingKey !== undefined && (typeof signingKey !== "string" || signingKey.length < SHORTEST_KEY)) {
    throw new UsageError(
      `\`signingKey\` of \`chat\` must be a text of at least ${SHORTEST_KEY} characters.`,
      {
        hint: "Make one with `openssl rand -hex 32`, and keep it where the other secrets of the server are.",
      },
    );
  }
}

function isStore(value: unknown): value is ChatStore {
  const { load, save } = (value ?? {}) as Partial<ChatStore>;
  return typeof load === "function" && typeof save === "function";
}

/** How many messages of the user a branch keeps. */
export function readBranch(options: BranchOptions, most: number): number {
  checkCallOptions("chat.branch", options);
  const { turns = most } = options;
  if (Number.isInteger(turns) && turns >= 0 && turns <= most) return turns;
  throw new UsageError(`\`turns\` of \`chat.branch\` must be a whole number from 0 to ${most}.`);
}

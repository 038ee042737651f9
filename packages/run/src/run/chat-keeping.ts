/**
 * How a chat outlives its process: what it keeps between turns, saved after each one where the program wants it, and
 * loaded again. External data can lower a chat's trust, never raise it.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import type { ModelMessage } from "ai";
import { type KeptChat, keepChat, listKeptChats, readKeptChat } from "../events/kept-chats.ts";
import { createRunId } from "../events/run-log.ts";
import {
  CHAT_VERSION,
  type ChatRecord,
  chatKey,
  isSignedChat,
  readSavedChat,
  type SavedChat,
  signChat,
} from "../events/saved-chat.ts";
import { dataOwner } from "../invoke/invocation.ts";
import { readHistory, takeHistory } from "./chat-history.ts";
import type { ChatOptions, ChatStore } from "./chat-options.ts";
import type { ChatState } from "./chat-turn.ts";
import type { RunHost } from "./run-request.ts";

/** What a chat keeps between turns. */
export interface Kept {
  readonly id: string;
  history: readonly ModelMessage[];
  turns: number;
  title: string;
  updatedAt: string;
  /** As requested; absent: the default, or a model without a name. */
  model: string | undefined;
  /** The main agent's first turn, whose work folder the later ones use. */
  workRunId: string | undefined;
  /** For a branch: the run of its first turn, whose folder already has its files. */
  nextRunId: string | undefined;
}

/** What a chat starts with. */
interface BegunChat {
  readonly history: readonly ModelMessage[];
  /** For a chat that continues. */
  readonly record?: ChatRecord;
  /** Whether it is exactly what was saved. */
  readonly verified: boolean;
}

export function beginKept({ record, history, verified }: BegunChat, asked: ChatOptions["model"]): Kept {
  const { turns = 0, title = "", updatedAt = new Date().toISOString() } = record ?? {};
  // A changed chat could contain another chat's id and folder.
  const { id = createRunId(), workRunId } = verified ? (record ?? {}) : {};
  const model = typeof asked === "string" ? asked : undefined;
  return { id, turns, title, updatedAt, workRunId, model, history, nextRunId: undefined };
}

const NEW_CHAT: BegunChat = { history: [], verified: true };

export async function beginChat(host: RunHost, options: ChatOptions): Promise<BegunChat> {
  const { resume, from, history, keep } = options;
  if (history !== undefined) return { history: await takeHistory(history), verified: true };
  if (from !== undefined) return openSaved(host, options, from, "`from` is not a saved chat:");
  if (resume === undefined) return NEW_CHAT;
  return typeof keep === "object" ? loadStored(host, options, resume, keep) : findKept(host, options, resume);
}

const BEGIN_ANEW = "Leave `resume` out to start a new chat.";

async function loadStored(
  host: RunHost,
  options: ChatOptions,
  id: string,
  store: ChatStore,
): Promise<BegunChat> {
  const stored: unknown = await store.load(id);
  if (stored === undefined || stored === null) {
    throw new UsageError(`The store has no chat \`${id}\`.`, { hint: BEGIN_ANEW });
  }
  return openSaved(
    host,
    options,
    stored,
    `The store returned something other than a saved chat for \`${id}\`:`,
  );
}

async function openSaved(
  host: RunHost,
  options: ChatOptions,
  value: unknown,
  what: string,
): Promise<BegunChat> {
  const read = readSavedChat(value);
  if (!read.ok)
    throw new UsageError(`${what} ${read.refusal}`, { hint: "Pass what `chat.toJSON()` returned." });
  const record = read.value;
  checkOwner(record, options);
  if (!isSignedChat(record, keyOf(host, options))) return openUnverified(record);
  return { record, history: await readMessages(record), verified: true };
}

const OWN_MARK = /skill_(?:content|resources)/i;

/**
 * Someone changed it, or it was signed elsewhere. The messages are still there, but no text in them counts as a skill's
 * instructions; and if there were any, nothing started from the chat is trusted.
 */
async function openUnverified(record: SavedChat): Promise<BegunChat> {
  const { activations, taintedBy } = record;
  const hasMarks = activations.length > 0 || OWN_MARK.test(JSON.stringify(record.messages));
  const doubtful = hasMarks ? (activations[0]?.name ?? "a saved chat") : undefined;
  const history = await takeHistory(record.messages);
  return {
    record: { ...record, activations: [], taintedBy: taintedBy ?? doubtful },
    history,
    verified: false,
  };
}

/** Only for the same owner: for anyone else, the chat doesn't exist. */
async function findKept(
  { places, cwd, base }: RunHost,
  { caller }: ChatOptions,
  wanted: string,
): Promise<BegunChat> {
  const owner = dataOwner(caller);
  const [last] = wanted === "last" ? listKeptChats(places, cwd ?? base, 1, owner) : [];
  if (wanted === "last" && last === undefined) {
    throw new UsageError("This folder has no chat to continue.", { hint: BEGIN_ANEW });
  }
  const read = readKeptChat(places, last?.id ?? wanted, owner);
  if (!read.ok) throw new UsageError(read.refusal, { hint: BEGIN_ANEW });
  return { record: read.value, history: await readMessages(read.value), verified: true };
}

async function readMessages({ id, messages }: ChatRecord): Promise<readonly ModelMessage[]> {
  const history = await readHistory(messages);
  if (history !== undefined) return history;
  throw new UsageError(`The chat \`${id}\` has messages that models do not accept.`, { hint: BEGIN_ANEW });
}

function checkOwner({ id, owner }: ChatRecord, { caller }: ChatOptions): void {
  if (owner === dataOwner(caller)) return;
  throw new UsageError(`The chat \`${id}\` belongs to another user.`, {
    hint: "Pass the `caller` whose chat it is.",
  });
}

function keyOf({ places }: RunHost, { signingKey }: ChatOptions): string {
  return signingKey ?? chatKey(places);
}

function recordChat({ options, memory, budget, redactor }: ChatState, kept: Kept): ChatRecord {
  const { id, turns, title, updatedAt, model, workRunId, history } = kept;
  return {
    version: CHAT_VERSION,
    id,
    owner: dataOwner(options.caller),
    model,
    updatedAt,
    title,
    turns,
    messages: redactor.redactJson(history) as unknown as ChatRecord["messages"],
    activations: memory.conversation.activations,
    taintedBy: memory.trust.taintedBy,
    workRunId,
    usage: budget.usage,
    cost: budget.cost,
  };
}

export function saveChat(state: ChatState, kept: Kept): SavedChat {
  return signChat(recordChat(state, kept), keyOf(state.host, state.options));
}

/** Longer than any store needs; a turn must not wait for one that doesn't answer. */
const SAVE_MS = 30_000;

/** After every turn, so that a kill loses at most the current one. A full disk must not cost the answer. */
export async function keepTurns(state: ChatState, kept: Kept): Promise<readonly Diagnostic[]> {
  const { host, options } = state;
  kept.updatedAt = new Date().toISOString();
  if (!options.keep) return [];
  try {
    if (typeof options.keep === "object") await storeInTime(options.keep, saveChat(state, kept));
    else keepChat(host.places, { ...recordChat(state, kept), cwd: host.cwd ?? host.base } satisfies KeptChat);
    return [];
  } catch (fault) {
    return [reportUnsaved(fault, state)];
  }
}

async function storeInTime(store: ChatStore, chat: SavedChat): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`the store did not answer within ${SAVE_MS / 1000} s`)),
    SAVE_MS,
  );
  try {
    await Promise.race([store.save(chat), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function reportUnsaved(fault: unknown, { host, options, redactor }: ChatState): Diagnostic {
  const { code, message = String(fault) } = (fault ?? {}) as NodeJS.ErrnoException;
  const isOwn = typeof options.keep === "object";
  return {
    code: "run.not-kept",
    severity: "warning",
    message: `This chat could not be saved${code === undefined ? "" : ` (${code})`}: ${redactor.redact(message)}`,
    path: isOwn ? "" : host.places.state,
    hint: isOwn
      ? "The next turn saves all of it; until then, it exists only in this process."
      : "Make the folder writable; until then, the chat exists only in this process.",
  };
}

/**
 * A conversation as one JSON value, to be stored wherever a program likes. It is signed: what was changed on the way is still
 * read, but as the words of somebody, never as instructions of a trusted skill.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSameSecret } from "@metier/base/digest";
import { readBounded } from "@metier/base/files";
import { canonicalText, type Json } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import {
  countShape,
  jsonShape,
  listShape,
  readShape,
  recordShape,
  type Shape,
  testedShape,
  textShape,
} from "@metier/base/shape";
import type { ActivatedText } from "@metier/skills";
import type { TokenUsage } from "./run-event.ts";
import { isRunId } from "./run-log.ts";

export const CHAT_VERSION = 1;

/** What is kept of a conversation, without secrets. */
export interface ChatRecord {
  /** The version of this format. */
  readonly version: typeof CHAT_VERSION;
  /** The id of the chat, for `resume`. */
  readonly id: string;
  /** Whose it is, by tenant and user: nobody else goes on with it. Absent: nobody's in particular. */
  readonly owner?: string | undefined;
  /** As the user names it, to be opened again; absent: the default one. */
  readonly model?: string | undefined;
  /** ISO 8601. */
  readonly updatedAt: string;
  /** What the user said first. */
  readonly title: string;
  /** How many turns it has had. */
  readonly turns: number;
  /** As the AI SDK has them (`ModelMessage`). */
  readonly messages: readonly Json[];
  /** Skills whose instructions are in it. */
  readonly activations: readonly ActivatedText[];
  /** An untrusted skill is in it, and stays. */
  readonly taintedBy?: string | undefined;
  /** The run whose work folder its turns use. */
  readonly workRunId?: string | undefined;
  /** The tokens used so far, with the skills it ran. */
  readonly usage: TokenUsage;
  /** The cost so far; 0 also when no price is known. */
  readonly cost: number;
}

/** What `chat.toJSON()` gives and `metier.chat({ from })` takes: plain JSON. */
export interface SavedChat extends ChatRecord {
  /** Whoever changes the rest, also its order of messages, makes it void. */
  readonly signature: string;
}

const runIdShape = testedShape(
  (value): value is string => typeof value === "string" && isRunId(value),
  "the id of a run",
);

const costShape = testedShape(
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number from 0",
);

export const chatRecordFields = {
  version: testedShape((value): value is typeof CHAT_VERSION => value === CHAT_VERSION, `${CHAT_VERSION}`),
  id: runIdShape,
  owner: textShape,
  model: textShape,
  updatedAt: textShape,
  title: textShape,
  turns: countShape,
  messages: listShape(jsonShape),
  activations: listShape(recordShape<ActivatedText>({ name: textShape, digest: textShape })),
  taintedBy: textShape,
  workRunId: runIdShape,
  usage: recordShape<TokenUsage>({
    inputTokens: countShape,
    outputTokens: countShape,
    totalTokens: countShape,
  }),
  cost: costShape,
};

export const OPTIONAL_FIELDS = ["owner", "model", "taintedBy", "workRunId"] as const;

export const savedChatShape: Shape<SavedChat> = recordShape<SavedChat>(
  { ...chatRecordFields, signature: textShape },
  OPTIONAL_FIELDS,
);

/** A refusal says why it is no saved chat. */
export function readSavedChat(value: unknown): Result<SavedChat, string> {
  if (typeof value === "string") return refused("It is a text. Read it by `JSON.parse` first.");
  const read = readShape(savedChatShape, value);
  if (read.ok) return done(read.value);
  return refused(read.refusal[0]?.message ?? "It is damaged.");
}

/** The same value again after JSON: what JSON does not have is not signed. */
export function signChat(record: ChatRecord, key: string): SavedChat {
  const plain = JSON.parse(JSON.stringify(record)) as ChatRecord;
  return { ...plain, signature: makeSignature(plain, key) };
}

/** Whether it is, to the letter, what was signed with this key. */
export function isSignedChat({ signature, ...record }: SavedChat, key: string): boolean {
  return isSameSecret(signature, makeSignature(record, key));
}

function makeSignature(record: ChatRecord, key: string): string {
  return `hmac-sha256:${createHmac("sha256", key).update(canonicalText(record)).digest("hex")}`;
}

const KEY_BYTES = 32;
const MOST_KEY_BYTES = 1024;
const temporaryKeys = new Map<string, string>();

/**
 * The key of this machine: made when it is first needed, for the user alone. Where it cannot be kept, one for as long as the
 * process lives: a chat that is read later is then one that nobody vouches for.
 */
export function chatKey({ state }: Pick<Places, "state">): string {
  const file = join(state, "chat-key");
  const fresh = temporaryKeys.get(file) ?? randomBytes(KEY_BYTES).toString("hex");
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(file, fresh, { flag: "wx", mode: 0o600 });
    return fresh;
  } catch {
    const read = readBounded(file, MOST_KEY_BYTES); // Mostly it is there already.
    if (read.ok && read.text.length >= KEY_BYTES) return read.text;
    temporaryKeys.set(file, fresh);
    return fresh;
  }
}

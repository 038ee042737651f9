/**
 * A conversation as one JSON value, to be stored anywhere. It is signed: a changed value can still be read, but only as
 * someone's words, never as a trusted skill's instructions.
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
  /** The owner, by tenant and user: nobody else can continue it. Absent: nobody in particular. */
  readonly owner?: string | undefined;
  /** The user's name for the model, to open it again; absent: the default. */
  readonly model?: string | undefined;
  /** ISO 8601. */
  readonly updatedAt: string;
  /** The user's first message. */
  readonly title: string;
  /** How many turns it has had. */
  readonly turns: number;
  /** As AI SDK messages (`ModelMessage`). */
  readonly messages: readonly Json[];
  /** Skills whose instructions are in it. */
  readonly activations: readonly ActivatedText[];
  /** An untrusted skill is in it, permanently. */
  readonly taintedBy?: string | undefined;
  /** The run whose work folder its turns use. */
  readonly workRunId?: string | undefined;
  /** The tokens used so far, including the skills it ran. */
  readonly usage: TokenUsage;
  /** The cost so far; also 0 if no price is known. */
  readonly cost: number;
}

/** What `chat.toJSON()` returns and `metier.chat({ from })` takes: plain JSON. */
export interface SavedChat extends ChatRecord {
  /** Any change to the rest, including the order of messages, makes it invalid. */
  readonly signature: string;
}

const runIdShape = testedShape(
  (value): value is string => typeof value === "string" && isRunId(value),
  "a run id",
);

const costShape = testedShape(
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number of 0 or more",
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

/** The refusal says why it isn't a saved chat. */
export function readSavedChat(value: unknown): Result<SavedChat, string> {
  if (typeof value === "string") return refused("It is a string. Parse it with `JSON.parse` first.");
  const read = readShape(savedChatShape, value);
  if (read.ok) return done(read.value);
  return refused(read.refusal[0]?.message ?? "It is damaged.");
}

/** The value after a JSON round trip: what JSON can't represent isn't signed. */
export function signChat(record: ChatRecord, key: string): SavedChat {
  const plain = JSON.parse(JSON.stringify(record)) as ChatRecord;
  return { ...plain, signature: makeSignature(plain, key) };
}

/** Whether it is exactly what was signed with this key. */
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
 * This machine's key: created on first use, readable only by the user. If it can't be stored, a key for the life of the
 * process: a chat read later is then unverified.
 */
export function chatKey({ state }: Pick<Places, "state">): string {
  const file = join(state, "chat-key");
  const fresh = temporaryKeys.get(file) ?? randomBytes(KEY_BYTES).toString("hex");
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(file, fresh, { flag: "wx", mode: 0o600 });
    return fresh;
  } catch {
    const read = readBounded(file, MOST_KEY_BYTES); // Usually it already exists.
    if (read.ok && read.text.length >= KEY_BYTES) return read.text;
    temporaryKeys.set(file, fresh);
    return fresh;
  }
}

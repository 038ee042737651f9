/**
 * Chats that outlive their process: one file each, `<state>/chats/<id>.json`, replaced as a whole after every turn, so
 * a killed process loses at most its current turn. Secrets are removed earlier, as with logs.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readBounded, removeLeftovers, writeAtomic } from "@metier/base/files";
import { type Places, realPathOr } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { fitShape, recordShape, type Shape, textShape } from "@metier/base/shape";
import { isRunId } from "./run-log.ts";
import { type ChatRecord, chatRecordFields, OPTIONAL_FIELDS } from "./saved-chat.ts";

/** Longer than any model's context. */
const MAX_BYTES = 64 * 1024 * 1024;
const MOST_KEPT = 200;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

type ChatPlaces = Pick<Places, "state">;

export interface KeptChat extends ChatRecord {
  /** The chat's folder. */
  readonly cwd: string;
}

const keptChatShape: Shape<KeptChat> = recordShape<KeptChat>(
  { ...chatRecordFields, cwd: textShape },
  OPTIONAL_FIELDS,
);

function chatFile({ state }: ChatPlaces, id: string): string {
  return join(state, "chats", `${id}.json`);
}

/** A chat's first turn also removes old chats. Throws system errors. */
export function keepChat(places: ChatPlaces, chat: KeptChat): void {
  const file = chatFile(places, chat.id);
  if (chat.turns <= 1) tidyChats(places);
  removeLeftovers(file);
  writeAtomic(file, JSON.stringify(chat), { mode: 0o600 });
}

/** The refusal says why, in one sentence. */
export function readKeptChat(
  places: ChatPlaces,
  id: string,
  owner?: string | undefined,
): Result<KeptChat, string> {
  if (!isRunId(id)) return refused(`\`${id}\` is not a chat id.`);
  const read = readBounded(chatFile(places, id), MAX_BYTES);
  if (!read.ok) return refused(`The chat \`${id}\` cannot be read: ${read.message}`);
  const chat = fitShape(keptChatShape, parse(read.text));
  if (chat && chat.owner !== owner) return refused(`There is no chat \`${id}\` here.`); // Nobody is told whose it is.
  if (chat?.id === id) return done(chat);
  return refused(`The chat \`${id}\` was saved by another version of Metier, or is damaged.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Damaged: it matches no shape.
  }
}

/** The chats of this folder, most recent first; unreadable ones are left out. */
export function listKeptChats(
  places: ChatPlaces,
  cwd: string,
  most = 20,
  owner?: string | undefined,
): readonly KeptChat[] {
  const found: KeptChat[] = [];
  const folder = realPathOr(cwd);
  for (const { id } of listFiles(places)) {
    const read = readKeptChat(places, id, owner);
    if (read.ok && realPathOr(read.value.cwd) === folder) found.push(read.value);
    if (found.length === most) break;
  }
  return found;
}

interface ChatFile {
  readonly id: string;
  readonly changedMs: number;
}

/** Most recently changed first. */
function listFiles({ state }: ChatPlaces): readonly ChatFile[] {
  const ids = listNames(join(state, "chats")).flatMap((name) => {
    const id = name.replace(/\.json$/, "");
    return isRunId(id) && name !== id ? [id] : [];
  });
  return ids
    .flatMap((id) => {
      const stats = statSync(chatFile({ state }, id), { throwIfNoEntry: false });
      return stats ? [{ id, changedMs: stats.mtimeMs }] : [];
    })
    .sort((a, b) => b.changedMs - a.changedMs || (a.id < b.id ? 1 : -1));
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return []; // There are no chats yet.
    throw fault;
  }
}

function tidyChats(places: ChatPlaces, now = Date.now()): void {
  for (const [index, { id, changedMs }] of listFiles(places).entries()) {
    if (index >= MOST_KEPT || now - changedMs > KEPT_MS) rmSync(chatFile(places, id), { force: true });
  }
}

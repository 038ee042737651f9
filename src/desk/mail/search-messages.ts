/** Finds messages by words, people and time, newest first; bounded in messages and bytes, and says if it was. */
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import { readRegularFile } from "../read-regular-file.ts";
import type { Address } from "./addresses.ts";
import { MAX_SEARCHED } from "./limits.ts";
import { isUnread, mailFolder, noSuchFolder, summarise } from "./mail-answers.ts";
import { listFolders, listMail, type MailFile } from "./maildir.ts";
import { type ReadMessage, readMessage } from "./read-message.ts";

export interface SearchInput {
  readonly query?: string;
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly folder?: string;
  readonly since?: string;
  readonly before?: string;
  readonly unread_only?: boolean;
  readonly limit?: number;
}

/** Of one message; a large attachment is not worth reading for its text. */
const MAX_BYTES_EACH = 500_000;
const MAX_BYTES_TOGETHER = 100_000_000;
const PAUSE_EVERY = 25;

export async function searchMessages(input: SearchInput, desk: Desk): Promise<Answer<JsonObject>> {
  const { limit = 20 } = input;
  const times = readTimes(input);
  if (!times.ok) return times;
  const root = mailFolder(desk);
  const known = listFolders(root);
  const folders = known.filter((one) => !input.folder || one.toLowerCase() === input.folder.toLowerCase());
  if (input.folder && folders.length === 0) return noSuchFolder(input.folder, known);
  const mails = folders
    .flatMap((folder) => listMail(root, folder))
    .filter((mail) => !input.unread_only || isUnread(mail))
    .sort((a, b) => b.deliveredAt - a.deliveredAt);
  const messages: JsonObject[] = [];
  let bytes = 0;
  let looked = 0;
  for (const mail of mails) {
    if (messages.length >= limit || looked >= MAX_SEARCHED || bytes >= MAX_BYTES_TOGETHER) break;
    if (++looked % PAUSE_EVERY === 0) await setImmediate();
    if (desk.signal.aborted) return refuse("capability_cancelled", "The search was given up.");
    const read = readRegularFile(mail.path, MAX_BYTES_EACH);
    bytes += read?.bytes.length ?? 0;
    const message = read && readMessage(read.bytes);
    if (message && fits(message, mail, input, times.value))
      messages.push(summarise(mail, message.envelope, read.size));
  }
  return done({ messages, looked_at: looked, complete: looked === mails.length });
}

interface Times {
  readonly since: number;
  readonly before: number;
}

function readTimes({ since, before }: SearchInput): Answer<Times> {
  const times = { since: readTime(since, -Infinity), before: readTime(before, Infinity) };
  const [wrong] = Object.entries(times).filter(([, time]) => Number.isNaN(time));
  if (!wrong) return done(times);
  return refuse(
    "capability_invalid_input",
    `\`${wrong[0]}\` is no date: write \`2026-03-01\` or a full time.`,
  );
}

function readTime(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : Date.parse(text);
}

function fits({ envelope, text }: ReadMessage, mail: MailFile, input: SearchInput, times: Times): boolean {
  const sent = envelope.date === undefined ? mail.deliveredAt : Date.parse(envelope.date);
  if (sent < times.since || sent >= times.before) return false;
  const from = showPeople(envelope.from ? [envelope.from] : []);
  const to = showPeople([...envelope.to, ...envelope.cc]);
  return (
    hasWords(from, input.from) &&
    hasWords(to, input.to) &&
    hasWords(envelope.subject, input.subject) &&
    hasWords([envelope.subject, from, to, text].join("\n"), input.query)
  );
}

function showPeople(addresses: readonly Address[]): string {
  return addresses.map(({ address, name = "" }) => `${name} ${address}`).join("\n");
}

/** All of them, in any order. */
function hasWords(text: string, words = ""): boolean {
  const plain = fold(text);
  return fold(words)
    .split(/\s+/)
    .every((word) => plain.includes(word));
}

/** Case, and forms of one letter, make no difference. */
function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Looking at mail: nothing here changes a file, so a message that was read through the desk stays unread. */
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import { readRegularFile } from "../read-regular-file.ts";
import { MAX_HEADER_BYTES, MAX_MESSAGE_BYTES } from "./limits.ts";
import { isUnread, mailFolder, noSuchFolder, noSuchMessage, showAddress, summarise } from "./mail-answers.ts";
import { findMail, INBOX, listFolders, listMail } from "./maildir.ts";
import { readEnvelope, readMessage } from "./read-message.ts";

export async function listMailFolders(_input: JsonObject, desk: Desk): Promise<Answer<JsonObject>> {
  const root = mailFolder(desk);
  const folders = listFolders(root).map((name) => {
    const mails = listMail(root, name);
    return { name, total: mails.length, unread: mails.filter(isUnread).length };
  });
  return done({ folders });
}

export interface ListInput {
  readonly folder?: string;
  readonly unread_only?: boolean;
  readonly limit?: number;
  readonly after?: string;
}

export async function listMessages(input: ListInput, desk: Desk): Promise<Answer<JsonObject>> {
  const { folder = INBOX, limit = 20, after } = input;
  const root = mailFolder(desk);
  const known = listFolders(root);
  const name = known.find((one) => one.toLowerCase() === folder.toLowerCase());
  if (name === undefined) return noSuchFolder(folder, known);
  const all = listMail(root, name);
  const wanted = input.unread_only ? all.filter(isUnread) : all;
  const start = after === undefined ? 0 : wanted.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) return noSuchMessage(after);
  const messages: JsonObject[] = [];
  let at = start;
  for (; at < wanted.length && messages.length < limit; at++) {
    const mail = wanted[at];
    const read = mail && readRegularFile(mail.path, MAX_HEADER_BYTES);
    if (mail && read) messages.push(summarise(mail, readEnvelope(read.bytes), read.size));
  }
  const last = wanted[at - 1];
  return done({
    folder: name,
    messages,
    total: wanted.length,
    unread: all.filter(isUnread).length,
    ...(last && at < wanted.length && { next: last.id }),
  });
}

export async function readOneMessage(
  { id }: { readonly id: string },
  desk: Desk,
): Promise<Answer<JsonObject>> {
  const mail = findMail(mailFolder(desk), (one) => one === id);
  const read = mail && readRegularFile(mail.path, MAX_MESSAGE_BYTES);
  if (!mail || !read) return noSuchMessage(id);
  const { envelope, text, isTextCut, attachments } = readMessage(read.bytes);
  return done({
    ...summarise(mail, envelope, read.size),
    cc: envelope.cc.map(showAddress),
    text,
    text_cut: isTextCut || read.size > read.bytes.length,
    attachments: attachments.map(({ name, type, size }) => ({ name, type, size_bytes: size })),
  });
}

/** `desk.mail`: a maildir, where each message is a file and its flags are letters at the end of the file's name. */
import { createHash } from "node:crypto";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import PostalMime, { type Address, type Email } from "postal-mime";
import { ADDRESS_PATTERN } from "./accounts.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import { listNames, readStart, writeOnce } from "./files.ts";
import { type Call, inputOf, invalidInput, type JsonObject, type Operation } from "./operation.ts";

interface MailFile {
  /** The part of the name that never changes. */
  readonly id: string;
  readonly folder: string;
  readonly path: string;
  readonly flags: string;
}

const INBOX = "INBOX";
/** `<id>:2,<flags>`; a new message has no flags yet. */
const NAME = /^([^.:/][^:/]{0,200})(?::2,([A-Za-z]{0,26}))?$/;
const MAX_LISTED_BYTES = 200_000;
const MAX_READ_BYTES = 5_000_000;
const MAX_TEXT = 50_000;
const MAX_SEARCHED = 500;
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 200_000, forceRfc822Attachments: true };

const ID = { type: "string", maxLength: 256, description: "Of a message, as `list_messages` shows it." };
const RECIPIENT = { type: "string", maxLength: 320, pattern: ADDRESS_PATTERN };

interface ListInput {
  readonly folder?: string;
  readonly query?: string;
  readonly unread_only?: boolean;
  readonly limit?: number;
}

const listMessages: Operation<ListInput> = {
  description: "Messages of one folder, newest first, without their text.",
  input: inputOf({
    folder: { type: "string", maxLength: 100, description: "INBOX by default." },
    query: { type: "string", maxLength: 200, description: "Words in the sender, the subject or the text." },
    unread_only: { type: "boolean" },
    limit: { type: "integer", minimum: 1, maximum: 100, description: "20 by default." },
  }),
  async perform({ folder = INBOX, query = "", unread_only = false, limit = 20 }, call) {
    const folders = listFolders(call);
    if (!folders.includes(folder))
      throw invalidInput(`No folder \`${folder}\`. Folders: ${folders.join(", ")}.`);
    const files = listMail(call, folder).filter((file) => !unread_only || isUnread(file));
    const words = query.toLowerCase().split(/\s+/);
    const messages: JsonObject[] = [];
    for (const file of files.slice(0, MAX_SEARCHED)) {
      if (messages.length >= limit) break;
      const email = await readEmail(file, MAX_LISTED_BYTES);
      const text = email && [showPeople([email.from]), email.subject, textOf(email)].join("\n").toLowerCase();
      if (email && words.every((word) => text?.includes(word))) messages.push(summarize(file, email));
    }
    return { folder, messages, total: files.length, unread: files.filter(isUnread).length };
  },
};

const readMessage: Operation<{ readonly id: string }> = {
  description: "One message with its text and the names of its attachments. It stays unread.",
  input: inputOf({ id: ID }, ["id"]),
  async perform({ id }, call) {
    const file = requireMail(call, id);
    const email = await readEmail(file, MAX_READ_BYTES);
    if (!email) throw invalidInput(`The message \`${id}\` cannot be read.`);
    return {
      ...summarize(file, email),
      to: showPeople(email.to),
      text: cleanText(textOf(email), MAX_TEXT),
      attachments: email.attachments.slice(0, 50).map(({ filename, mimeType }) => ({
        name: cleanLine(filename ?? "unnamed"),
        type: cleanLine(mimeType),
      })),
    };
  },
};

const archiveMessage: Operation<{ readonly id: string }> = {
  description: "Moves a message to the folder Archive.",
  mutating: true,
  input: inputOf({ id: ID }, ["id"]),
  perform({ id }, call) {
    const file = requireMail(call, id);
    const isThere = file.folder === "Archive";
    if (!isThere) {
      const place = join(folderPath(call, "Archive"), "cur");
      mkdirSync(place, { recursive: true, mode: 0o700 });
      renameSync(file.path, join(place, `${id}:2,${file.flags}`));
    }
    return { id, folder: "Archive", changed: !isThere };
  },
};

interface SendInput {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

const sendMessage: Operation<SendInput> = {
  description: "Puts a plain-text message into the folder Outbox, from which your own mail program sends it.",
  mutating: true,
  input: inputOf(
    {
      to: { type: "array", items: RECIPIENT, minItems: 1, maxItems: 50 },
      subject: { type: "string", maxLength: 500, pattern: "^[^\\r\\n]*$" },
      text: { type: "string", maxLength: 100_000 },
    },
    ["to", "subject", "text"],
  ),
  perform(input, call) {
    // The key becomes the name, so a second attempt finds what the first one wrote, even after it was sent.
    const id = `${createHash("sha256").update(call.key).digest("hex")}.desk`;
    const path = join(folderPath(call, "Outbox"), "cur", `${id}:2,S`);
    const sent = findMail(call, id) === undefined && writeOnce(path, composeMessage(input, call, id));
    return { id, to: input.to, subject: input.subject, sent };
  },
};

export const MAIL_OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["list_messages", listMessages],
  ["read_message", readMessage],
  ["archive_message", archiveMessage],
  ["send_message", sendMessage],
]);

/** The inbox is the maildir itself; every other folder is inside it and starts with a dot. */
function listFolders(call: Call): readonly string[] {
  const names = listNames(folderPath(call, INBOX)).filter((name) => /^\.[^./]/.test(name));
  return [INBOX, ...names.map((name) => name.slice(1)).sort()];
}

function folderPath({ folder }: Call, name: string): string {
  return join(folder, "mail", name === INBOX ? "" : `.${name}`);
}

/** Newest first, by the time at the start of the names. */
function listMail(call: Call, folder: string): readonly MailFile[] {
  const files = ["cur", "new"].flatMap((part) => {
    const place = join(folderPath(call, folder), part);
    return listNames(place).flatMap((name) => {
      const [, id, flags = ""] = NAME.exec(name) ?? [];
      return id === undefined ? [] : [{ id, folder, path: join(place, name), flags }];
    });
  });
  return files.sort((a, b) => b.id.localeCompare(a.id, "en", { numeric: true }));
}

/** An id is looked up among the files that exist. It never becomes part of a path by itself. */
function findMail(call: Call, id: string): MailFile | undefined {
  return listFolders(call)
    .flatMap((folder) => listMail(call, folder))
    .find((file) => file.id === id);
}

function requireMail(call: Call, id: string): MailFile {
  const file = findMail(call, id);
  if (!file) throw invalidInput(`No message \`${id}\`. \`list_messages\` shows the ids.`);
  return file;
}

function isUnread({ flags }: MailFile): boolean {
  return !flags.includes("S");
}

/** Anyone can send mail with any content, so sizes and depths are limited, and what can't be read is left out. */
async function readEmail({ path }: MailFile, most: number): Promise<Email | undefined> {
  const bytes = readStart(path, most);
  return bytes && PostalMime.parse(bytes, LIMITS).catch(() => undefined);
}

function summarize(file: MailFile, email: Email): JsonObject {
  const sent = new Date(email.date ?? "");
  return {
    id: file.id,
    folder: file.folder,
    from: showPeople([email.from]),
    subject: cleanLine(email.subject ?? ""),
    date: Number.isNaN(sent.getTime()) ? null : sent.toISOString(),
    unread: isUnread(file),
  };
}

function showPeople(addresses: readonly (Address | undefined)[] = []): string {
  const people = addresses.flatMap((one) => one?.group ?? one ?? []);
  return cleanLine(
    people.map(({ name, address }) => (name ? `${name} <${address}>` : address)).join(", "),
    2000,
  );
}

/** The plain text, or the HTML without its tags, which is rough but readable. */
function textOf({ text, html = "" }: Email): string {
  return text ?? html.replace(/<[^<>]*>/g, " ").replace(/[ \t]+/g, " ");
}

function composeMessage({ to, subject, text }: SendInput, { account }: Call, id: string): string {
  const header = [
    `From: ${encodeHeader(account.name)} <${account.email}>`,
    `To: ${to.join(",\r\n ")}`,
    `Subject: ${encodeHeader(subject)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${id}@desk.invalid>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
  ];
  const body = Buffer.from(text.replace(/\r?\n/g, "\r\n")).toString("base64").replace(/.{76}/g, "$&\r\n");
  return `${header.join("\r\n")}\r\n\r\n${body}\r\n`;
}

/** RFC 2047. Anything but plain words is encoded, so nothing in it can end the header. */
function encodeHeader(text: string): string {
  if (/^[A-Za-z0-9 ]*$/.test(text)) return text;
  const pieces = text.match(/.{1,10}/gsu) ?? [];
  return pieces.map((piece) => `=?utf-8?B?${Buffer.from(piece).toString("base64")}?=`).join("\r\n ");
}

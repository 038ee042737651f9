/** `desk.mail`: its operations with their schemas. */
import { type DeskOperation, defineOperation } from "../desk-operation.ts";
import { listOf, objectOf, textOf, wholeNumber, yesOrNo } from "../schemas.ts";
import { archiveMessage, markMessage, moveMessage } from "./change-messages.ts";
import { ADDRESS_PATTERN } from "./compose-message.ts";
import { listMailFolders, listMessages, readOneMessage } from "./read-operations.ts";
import { searchMessages } from "./search-messages.ts";
import { sendMessage } from "./send-message.ts";

const ID = textOf(256, "Of a message, as a list gives it.", { minLength: 1 });
const FOLDER = textOf(100, "A folder as `list_folders` names it.", { minLength: 1 });
const WORDS = textOf(200, "Words that must all occur; case makes no difference.");
const DAY = textOf(40, "A date such as `2026-03-01`, or a full time.");
const LIMIT = wholeNumber(1, 100, "The most that is answered.", { default: 20 });
const COUNT = { type: "integer", minimum: 0 };
const PERSON = objectOf({ address: { type: "string" }, "name?": { type: "string" } });
const PEOPLE = listOf(PERSON, 50);
const RECIPIENT = textOf(320, "One plain address.", { pattern: ADDRESS_PATTERN });

const SUMMARY = {
  id: { type: "string" },
  folder: { type: "string" },
  "from?": PERSON,
  to: PEOPLE,
  subject: { type: "string" },
  "date?": textOf(40, "When it was sent, by the sender's word."),
  "received_at?": textOf(40, "When it arrived."),
  unread: { type: "boolean" },
  flagged: { type: "boolean" },
  answered: { type: "boolean" },
  size_bytes: COUNT,
};
const MESSAGES = listOf(objectOf(SUMMARY), 100);
const STATE = objectOf({
  id: { type: "string" },
  folder: { type: "string" },
  unread: { type: "boolean" },
  flagged: { type: "boolean" },
  answered: { type: "boolean" },
  changed: yesOrNo("`false`: it was like this already."),
});

export const MAIL_OPERATIONS: readonly DeskOperation[] = [
  defineOperation({
    name: "list_folders",
    description: "The folders of the mailbox, with how many messages they hold.",
    inputSchema: objectOf({}),
    outputSchema: objectOf({
      folders: listOf(objectOf({ name: { type: "string" }, total: COUNT, unread: COUNT }), 1_000),
    }),
    perform: listMailFolders,
  }),
  defineOperation({
    name: "list_messages",
    description: "Messages of one folder, newest first: who, what about, when. No text.",
    inputSchema: objectOf({
      "folder?": { ...FOLDER, default: "INBOX" },
      "unread_only?": yesOrNo("Leave out what was read."),
      "limit?": LIMIT,
      "after?": textOf(256, "The `next` of the answer before, to go on from there."),
    }),
    outputSchema: objectOf({
      folder: { type: "string" },
      messages: MESSAGES,
      total: COUNT,
      unread: COUNT,
      "next?": { type: "string" },
    }),
    perform: listMessages,
  }),
  defineOperation({
    name: "read_message",
    description: "One message with its text and the names of its attachments. It stays unread.",
    inputSchema: objectOf({ id: ID }),
    outputSchema: objectOf({
      ...SUMMARY,
      cc: PEOPLE,
      text: { type: "string" },
      text_cut: yesOrNo("The message is longer than what is shown."),
      attachments: listOf(
        objectOf({ name: { type: "string" }, type: { type: "string" }, size_bytes: COUNT }),
        50,
      ),
    }),
    perform: readOneMessage,
  }),
  defineOperation({
    name: "search_messages",
    description: "Messages of all folders, or of one, in which words, people or times fit; newest first.",
    inputSchema: objectOf({
      "query?": WORDS,
      "from?": WORDS,
      "to?": WORDS,
      "subject?": WORDS,
      "folder?": FOLDER,
      "since?": DAY,
      "before?": DAY,
      "unread_only?": yesOrNo("Leave out what was read."),
      "limit?": LIMIT,
    }),
    outputSchema: objectOf({
      messages: MESSAGES,
      looked_at: COUNT,
      complete: yesOrNo("Every message was looked at."),
    }),
    perform: searchMessages,
  }),
  defineOperation({
    name: "archive_message",
    description: "Moves a message to the folder `Archive`.",
    mutating: true,
    inputSchema: objectOf({ id: ID }),
    outputSchema: STATE,
    perform: archiveMessage,
  }),
  defineOperation({
    name: "move_message",
    description: "Moves a message to another folder of the mailbox.",
    mutating: true,
    inputSchema: objectOf({ id: ID, folder: FOLDER }),
    outputSchema: STATE,
    perform: moveMessage,
  }),
  defineOperation({
    name: "mark_message",
    description: "Marks a message as seen, flagged or answered, or takes the mark away.",
    mutating: true,
    inputSchema: objectOf({
      id: ID,
      "seen?": { type: "boolean" },
      "flagged?": { type: "boolean" },
      "answered?": { type: "boolean" },
    }),
    outputSchema: STATE,
    perform: markMessage,
  }),
  defineOperation({
    name: "send_message",
    description: "Puts a plain-text message into the outbox, from the account's own address.",
    mutating: true,
    inputSchema: objectOf({
      to: listOf(RECIPIENT, 50, { minItems: 1 }),
      "cc?": listOf(RECIPIENT, 50),
      subject: textOf(500, "One line.", { pattern: "^[^\\r\\n]*$" }),
      text: textOf(100_000, "The message itself."),
      "in_reply_to?": textOf(256, "The `id` of the message that this one answers."),
    }),
    outputSchema: objectOf({
      id: { type: "string" },
      folder: { type: "string" },
      to: listOf({ type: "string" }, 50),
      cc: listOf({ type: "string" }, 50),
      subject: { type: "string" },
      sent: yesOrNo("`false`: an earlier call with this key had sent it."),
    }),
    perform: sendMessage,
  }),
];

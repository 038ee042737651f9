/**
 * Sending: the message goes into the maildir folder `Outbox`. What delivers it from there moves it on to `Sent` and
 * keeps its name, by which a second call with the same key knows that it was sent.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Desk } from "../desk-operation.ts";
import { markOf, type OperationMark } from "../operation-mark.ts";
import { readRegularFile } from "../read-regular-file.ts";
import { composeMessage } from "./compose-message.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";
import { mailFolder, noSuchMessage } from "./mail-answers.ts";
import { deliverMail, findMail, type MailFile } from "./maildir.ts";
import { readEnvelope } from "./read-message.ts";

export interface SendInput {
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The `id` of the message that is answered. */
  readonly in_reply_to?: string;
}

const OUTBOX = "Outbox";

export async function sendMessage(input: SendInput, desk: Desk): Promise<Answer<JsonObject>> {
  const answered = findAnswered(input.in_reply_to, desk);
  if (!answered.ok) return answered;
  const mark = markOf(desk.idempotencyKey ?? randomBytes(16).toString("hex"), { ...input } as JsonObject);
  // One at a time: of two calls with one key, the second finds what the first has delivered.
  return withLock(join(desk.folder, "outbox"), () => {
    const earlier = findMail(mailFolder(desk), (id) => id.includes(mark.key));
    return earlier ? answerAgain(earlier, mark, input) : deliver(mark, input, answered.value, desk);
  });
}

function deliver(
  mark: OperationMark,
  input: SendInput,
  inReplyTo: string | undefined,
  desk: Desk,
): Answer<JsonObject> {
  const { name, email } = desk.account;
  const content = composeMessage({
    from: { name, address: email },
    to: input.to,
    cc: input.cc ?? [],
    subject: input.subject,
    text: input.text,
    ...(inReplyTo !== undefined && { inReplyTo }),
    messageId: `<${mark.whole.toLowerCase()}@desk.invalid>`,
    date: desk.now,
  });
  return done(showSent(deliverMail(mailFolder(desk), OUTBOX, content, mark.whole), input, true));
}

function answerAgain(earlier: MailFile, mark: OperationMark, input: SendInput): Answer<JsonObject> {
  if (earlier.id.includes(mark.whole)) return done(showSent(earlier, input, false));
  return refuse("capability_invalid_input", "Another message was sent with this idempotency key.", {
    hint: "Use a new key for a new message.",
  });
}

function showSent(mail: MailFile, input: SendInput, isNew: boolean): JsonObject {
  const { to, cc = [], subject } = input;
  return { id: mail.id, folder: mail.folder, to: [...to], cc: [...cc], subject, sent: isNew };
}

/** The identity of the message that is answered, if it has one. */
function findAnswered(id: string | undefined, desk: Desk): Answer<string | undefined> {
  if (id === undefined) return done(undefined);
  const mail = findMail(mailFolder(desk), (one) => one === id);
  const read = mail && readRegularFile(mail.path, MAX_HEADER_BYTES);
  return read ? done(readEnvelope(read.bytes).messageId) : noSuchMessage(id);
}

/** Messages as the operations answer with them, and the answers for what is not there. */
import { join } from "node:path";
import type { JsonObject } from "../../capabilities/capability.ts";
import { refuse } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import type { Address } from "./addresses.ts";
import type { MailFile } from "./maildir.ts";
import type { Envelope } from "./read-message.ts";

export function mailFolder({ folder }: Desk): string {
  return join(folder, "mail");
}

export function isUnread({ isNew, flags }: MailFile): boolean {
  return isNew || !flags.includes("S");
}

/** What a list shows of a message. */
export function summarise(mail: MailFile, envelope: Envelope, size: number): JsonObject {
  const { from, to, subject, date } = envelope;
  return {
    id: mail.id,
    folder: mail.folder,
    ...(from && { from: showAddress(from) }),
    to: to.map(showAddress),
    subject,
    ...(date !== undefined && { date }),
    ...(mail.deliveredAt > 0 && { received_at: new Date(mail.deliveredAt).toISOString() }),
    unread: isUnread(mail),
    flagged: mail.flags.includes("F"),
    answered: mail.flags.includes("R"),
    size_bytes: size,
  };
}

export function showAddress({ address, name }: Address): JsonObject {
  return { address, ...(name !== undefined && { name }) };
}

export function noSuchMessage(id: string): ReturnType<typeof refuse> {
  return refuse("capability_invalid_input", `This account has no message \`${id}\`.`, {
    hint: "Take an `id` from `list_messages` or `search_messages`.",
  });
}

export function noSuchFolder(folder: string, known: readonly string[]): ReturnType<typeof refuse> {
  return refuse("capability_invalid_input", `This account has no mail folder \`${folder}\`.`, {
    hint: `It has: ${known.map((name) => `\`${name}\``).join(", ")}.`,
  });
}

/** Moving and marking mail. A message that is as it was asked for stays untouched, so every change can be repeated. */
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import { isUnread, mailFolder, noSuchFolder, noSuchMessage } from "./mail-answers.ts";
import { findMail, isFolderName, listFolders, type MailFile, moveMail } from "./maildir.ts";

const ARCHIVE = "Archive";
/** Other programs may rename a message between finding and moving it. */
const ATTEMPTS = 5;

export function archiveMessage({ id }: { readonly id: string }, desk: Desk): Promise<Answer<JsonObject>> {
  return change(desk, id, (mail) => ({ folder: ARCHIVE, flags: mail.flags }));
}

export interface MoveInput {
  readonly id: string;
  readonly folder: string;
}

export async function moveMessage({ id, folder }: MoveInput, desk: Desk): Promise<Answer<JsonObject>> {
  const known = listFolders(mailFolder(desk));
  const name = known.find((one) => one.toLowerCase() === folder.toLowerCase()) ?? ownFolder(folder);
  if (name === undefined || !isFolderName(name)) return noSuchFolder(folder, [...known, ARCHIVE]);
  return change(desk, id, (mail) => ({ folder: name, flags: mail.flags }));
}

/** Made when the first message comes; any other folder is the user's to make. */
function ownFolder(folder: string): string | undefined {
  return folder.toLowerCase() === ARCHIVE.toLowerCase() ? ARCHIVE : undefined;
}

export interface MarkInput {
  readonly id: string;
  readonly seen?: boolean;
  readonly flagged?: boolean;
  readonly answered?: boolean;
}

export async function markMessage(input: MarkInput, desk: Desk): Promise<Answer<JsonObject>> {
  const wanted = [
    ["S", input.seen],
    ["F", input.flagged],
    ["R", input.answered],
  ] as const;
  if (wanted.every(([, value]) => value === undefined))
    return refuse("capability_invalid_input", "Nothing to mark: give `seen`, `flagged` or `answered`.");
  return change(desk, input.id, (mail) => {
    const kept = [...mail.flags].filter(
      (flag) => !wanted.some(([letter, value]) => letter === flag && value !== undefined),
    );
    const set = wanted.flatMap(([letter, value]) => (value === true ? [letter] : []));
    return { folder: mail.folder, flags: [...kept, ...set].join("") };
  });
}

type Plan = (mail: MailFile) => { readonly folder: string; readonly flags: string };

async function change(desk: Desk, id: string, plan: Plan): Promise<Answer<JsonObject>> {
  const root = mailFolder(desk);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const mail = findMail(root, (one) => one === id);
    if (!mail) return noSuchMessage(id);
    const { folder, flags } = plan(mail);
    const isSame = folder === mail.folder && sameFlags(flags, mail.flags);
    const changed = isSame ? mail : moveMail(root, mail, folder, flags);
    if (changed) return done(showState(changed, !isSame));
  }
  return refuse("capability_backend_unavailable", `Another program keeps moving the message \`${id}\`.`, {
    retryAfterSeconds: 1,
  });
}

function sameFlags(some: string, others: string): boolean {
  return [...new Set(some)].sort().join("") === [...new Set(others)].sort().join("");
}

function showState(mail: MailFile, isChanged: boolean): JsonObject {
  return {
    id: mail.id,
    folder: mail.folder,
    unread: isUnread(mail),
    flagged: mail.flags.includes("F"),
    answered: mail.flags.includes("R"),
    changed: isChanged,
  };
}

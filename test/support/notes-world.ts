/** A home in which users have shelves with notes: accounts and secrets as they are after a sign-in, and brokers over them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import type { AuditEntry, CapabilityBroker, CapabilityCaller } from "@metier/capabilities";
import { createBroker, openAccounts, openVault } from "@metier/capabilities/broker";
import { createNotesProvider, type NotesOptions, readNotes } from "./notes-provider.ts";

export const PAD = "notes.pad";
/** Of the notes, where one user is enough. */
export const OWNER: CapabilityCaller = { userId: "alice", chatType: "private" };

export function openNotes(home: string, pause?: NotesOptions["pause"]): CapabilityBroker {
  const provider = createNotesProvider({ folder: join(home, "shelves"), ...(pause && { pause }) });
  return createBroker({
    providers: [{ name: "notes", namespace: "notes", kind: "in-process", origin: "program", provider }],
    places: metierPlaces(home),
    rateLimit: 1_000_000,
  });
}

/** The reference is `shelf-of-<user>`, and so is the name of the file with the notes. */
export async function linkShelf(home: string, { userId }: CapabilityCaller): Promise<string> {
  const { base, state } = metierPlaces(home);
  const shelf = `shelf-of-${userId}`;
  const reference = await openVault({ folder: join(base, "vault") })
    .open("notes", userId)
    .put({ shelf });
  await openAccounts({ folder: join(state, "capabilities", "accounts") }).put(userId, PAD, {
    accountRef: shelf,
    createdAt: "2026-01-01T00:00:00.000Z",
    credentialMaterial: { credential_ref: reference },
    metadata: {},
  });
  return shelf;
}

export function notesOf(home: string, shelf: string): readonly string[] {
  return readNotes(join(home, "shelves", shelf));
}

/** All lines of the log, also of files that were put aside; in no particular order. */
export function readAudit(home: string): readonly AuditEntry[] {
  const folder = join(metierPlaces(home).state, "capabilities");
  return readdirSync(folder)
    .filter((name) => /^audit(\.\d+)?\.jsonl$/.test(name))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
    .map((line) => JSON.parse(line) as AuditEntry);
}

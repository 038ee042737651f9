/**
 * A provider that keeps notes in files. Whose notes it opens is decided by a secret in the vault of the account alone, so a
 * mix-up of users anywhere on the way would show. `add` makes a new note each time; `set` is idempotent by its key.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityProvider,
  type ProviderContext,
  type ProviderInvocation,
} from "@metier/capabilities";

export interface NotesOptions {
  /** Where the notes are. */
  readonly folder: string;
  /** Stops where a test wants it to; by default nowhere. */
  pause?(moment: "before" | "after", request: ProviderInvocation): Promise<void>;
}

const MOST_SHOWN = 20;
const TEXT = { type: "object", required: ["text"], properties: { text: { type: "string" } } };

const DEFINITIONS = [
  {
    id: "notes.pad",
    description: "Notes of the user.",
    sensitive: true,
    operations: [
      { name: "read", description: "All notes." },
      { name: "add", description: "Adds a note.", mutating: true, input_schema: TEXT },
      { name: "set", description: "Sets a note.", mutating: true, idempotent: true, input_schema: TEXT },
    ],
  },
];

export function createNotesProvider({
  folder,
  pause = async () => undefined,
}: NotesOptions): CapabilityProvider {
  const perform = async (
    { operation, input, idempotencyKey }: ProviderInvocation,
    shelf: string,
  ): Promise<Answer<JsonObject>> => {
    if (operation === "add") appendFileSync(shelf, `${input.text}\n`);
    if (operation === "set") {
      const note = noteOfKey(String(input.text), idempotencyKey);
      if (!readNotes(shelf).includes(note)) appendFileSync(shelf, `${note}\n`);
    }
    return answerWith({ notes: readNotes(shelf).slice(-MOST_SHOWN) });
  };
  return {
    namespace: "notes",
    definitions: async () => answerWith(DEFINITIONS),
    async invoke(request, context) {
      const shelf = await findShelf(request, context, folder);
      if (shelf === undefined) return answerFault("capability_access_denied", "There is no such shelf.");
      await pause("before", request);
      const answer = await perform(request, shelf);
      await pause("after", request);
      return answer;
    },
    authBegin: async () => answerFault("capability_backend_unavailable", "Accounts are linked by hand here."),
  };
}

/** What `set` writes. A line is appended whole or not at all, so a provider that is killed keeps its promise. */
export function noteOfKey(text: string, key = ""): string {
  return `${text} (${key})`;
}

/** The notes of one shelf, oldest first. */
export function readNotes(shelf: string): readonly string[] {
  return existsSync(shelf) ? readFileSync(shelf, "utf8").split("\n").filter(Boolean) : [];
}

async function findShelf(
  { account }: ProviderInvocation,
  { vault }: ProviderContext,
  folder: string,
): Promise<string | undefined> {
  const secret = await vault.get(String(account?.credentialMaterial.credential_ref));
  if (typeof secret?.shelf !== "string") return undefined;
  mkdirSync(folder, { recursive: true });
  return join(folder, secret.shelf);
}

/**
 * Which accounts a user has linked: one file for each account, replaced as a whole, so that processes at work at the same
 * time need no lock. It holds what is shown and what a provider gave as references; no credential.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../foundation/diagnostic.ts";
import { folderName } from "../host/folder-name.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import type { AccountStore } from "./broker-parts.ts";
import type { ProviderAccount } from "./capability-provider.ts";
import { isJsonObject } from "./json-object.ts";
import { damagedFile, digestName, listStateFiles, readStateFile, userFolder } from "./state-files.ts";

const VERSION = 1;
const ENDING = ".json";

interface StoredAccount {
  readonly version: typeof VERSION;
  readonly user: string;
  readonly capability: string;
  readonly account: ProviderAccount;
}

/**
 * `folder`: `<home>/.metier/state/capabilities/accounts`. A damaged file rejects with `CapabilityStateError`, for its user
 * alone: were it skipped, the one account that is left might be taken for the one that was meant.
 */
export function openAccounts({ folder }: { readonly folder: string }): AccountStore {
  const folderOf = (userId: string, capability: string): string =>
    join(userFolder(folder, userId), folderName(capability));
  const fileOf = (userId: string, capability: string, accountRef: string): string =>
    join(folderOf(userId, capability), digestName(accountRef) + ENDING);
  return {
    async list(userId, capability) {
      const own = folderOf(userId, capability);
      return listStateFiles(own, ENDING)
        .flatMap((name) => readAccount(join(own, name + ENDING), userId, capability) ?? [])
        .sort((a, b) => compareText(a.createdAt, b.createdAt) || compareText(a.accountRef, b.accountRef));
    },
    async put(user, capability, account) {
      const stored: StoredAccount = { version: VERSION, user, capability, account };
      writeAtomic(fileOf(user, capability, account.accountRef), `${JSON.stringify(stored)}\n`);
    },
    async remove(userId, capability, accountRef) {
      return removeFile(fileOf(userId, capability, accountRef));
    },
  };
}

/** Whether there was one. */
function removeFile(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** `undefined`: it was unlinked meanwhile. */
function readAccount(file: string, user: string, capability: string): ProviderAccount | undefined {
  const stored = readStateFile(file);
  if (stored === undefined) return undefined;
  if (!isStoredAccount(stored)) throw damagedFile(file, "it does not hold an account");
  if (stored.user !== user || stored.capability !== capability) {
    throw damagedFile(file, "it belongs to another user or capability");
  }
  return stored.account;
}

function isStoredAccount(value: unknown): value is StoredAccount {
  if (!isJsonObject(value) || value.version !== VERSION || !isJsonObject(value.account)) return false;
  const { accountRef, accountName, accountEmail, createdAt, credentialMaterial, metadata } = value.account;
  const isText = (text: unknown): boolean => typeof text === "string";
  return (
    isText(accountRef) &&
    isText(createdAt) &&
    [accountName, accountEmail].every((text) => text === undefined || isText(text)) &&
    isJsonObject(credentialMaterial) &&
    isJsonObject(metadata)
  );
}

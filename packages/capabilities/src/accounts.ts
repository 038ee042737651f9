/**
 * The accounts a user has linked, and which one an operation uses. Each account has its own file, replaced as a whole,
 * so concurrent processes need no lock. Files hold display data and a provider's references, never a credential.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { folderName, removeFolder, writeAtomic } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { fitShape, jsonShape, recordShape, testedShape, textShape } from "@metier/base/shape";
import { compareText, showNames, showValue } from "@metier/base/text";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityOperation,
  type ProviderAccount,
} from "./capability.ts";
import { jsonObjectShape } from "./plain-json.ts";
import {
  damagedFile,
  digestName,
  listStateFiles,
  listStateFolders,
  readStateFile,
  readStateFileIfSound,
  userFolder,
} from "./state-files.ts";

/** A user's linked accounts, stored on disk separately for each user. */
export interface AccountStore {
  list(userId: string, capability: string): Promise<readonly ProviderAccount[]>;
  put(userId: string, capability: string, account: ProviderAccount): Promise<void>;
  remove(userId: string, capability: string, accountRef: string): Promise<boolean>;
  /** Accounts of all users. Unreadable files are left out. */
  listAll(): readonly LinkedTo[];
  /** Removes everything of this user, even if damaged. */
  forget(userId: string): void;
}

/** An account, who linked it and to which capability. */
export interface LinkedTo {
  readonly userId: string;
  readonly capability: string;
  readonly account: ProviderAccount;
}

const VERSION = 1;
const ENDING = ".json";

interface StoredAccount {
  readonly version: typeof VERSION;
  /** The owner, so that another user's file is not mistaken for a damaged one. */
  readonly user: Json;
  readonly capability: Json;
  readonly account: ProviderAccount;
}

const storedAccountShape = recordShape<StoredAccount>(
  {
    version: testedShape((value): value is typeof VERSION => value === VERSION, String(VERSION)),
    user: jsonShape,
    capability: jsonShape,
    account: recordShape<ProviderAccount>(
      {
        accountRef: textShape,
        accountName: textShape,
        accountEmail: textShape,
        createdAt: textShape,
        credentialMaterial: jsonObjectShape,
        metadata: jsonObjectShape,
      },
      ["accountName", "accountEmail"],
    ),
  },
  ["user", "capability"],
);

/**
 * `folder`: `<home>/.metier/state/capabilities/accounts`. A damaged file rejects with `CapabilityStateError`, only for
 * its user: skipping it could make the remaining account look like the intended one.
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
    listAll: () =>
      listStateFolders(folder)
        .flatMap((user) => listStateFolders(user))
        .flatMap((own) =>
          listStateFiles(own, ENDING).flatMap((name) => readAny(join(own, name + ENDING)) ?? []),
        ),
    forget: (userId) => removeFolder(userFolder(folder, userId)),
  };
}

/** Returns whether it existed. */
function removeFile(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function readAny(file: string): LinkedTo | undefined {
  const stored = fitShape(storedAccountShape, readStateFileIfSound(file));
  if (typeof stored?.user !== "string" || typeof stored.capability !== "string") return undefined;
  return { userId: stored.user, capability: stored.capability, account: stored.account };
}

/** `undefined`: it was unlinked in the meantime. */
function readAccount(file: string, user: string, capability: string): ProviderAccount | undefined {
  const value = readStateFile(file);
  if (value === undefined) return undefined;
  const stored = fitShape(storedAccountShape, value);
  if (stored === undefined) throw damagedFile(file, "it does not hold an account");
  if (stored.user !== user || stored.capability !== capability) {
    throw damagedFile(file, "it belongs to another user or capability");
  }
  return stored.account;
}

/**
 * `wanted` is an account's reference, name or email. An operation that needs no account gets one only if it is named.
 */
export function chooseAccount(
  capability: string,
  { requiresAuth }: Pick<CapabilityOperation, "requiresAuth">,
  linked: readonly ProviderAccount[],
  wanted?: string,
): Answer<ProviderAccount | undefined> {
  if (wanted === undefined && !requiresAuth) return answerWith(undefined);
  const meant = wanted === undefined ? linked : findMeant(linked, wanted);
  const [account, ...others] = meant;
  if (others.length > 0) return ambiguous(capability, meant, wanted);
  if (account) return answerWith(account);
  const message =
    wanted === undefined
      ? `No account is linked to \`${capability}\`.`
      : `No account ${showValue(wanted)} is linked to \`${capability}\`.`;
  return answerFault("capability_auth_required", message, {
    hint: `Start a sign-in for \`${capability}\` (\`capability auth begin\`); the user completes it.`,
  });
}

function findMeant(linked: readonly ProviderAccount[], wanted: string): readonly ProviderAccount[] {
  const exact = linked.filter(({ accountRef }) => accountRef === wanted);
  if (exact.length > 0) return exact;
  const text = fold(wanted);
  return linked.filter(({ accountName, accountEmail }) =>
    [accountName, accountEmail].some((name) => name !== undefined && fold(name) === text),
  );
}

function fold(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

function ambiguous(
  capability: string,
  accounts: readonly ProviderAccount[],
  wanted: string | undefined,
): Answer<never> {
  const which = wanted === undefined ? "are linked" : `are called ${showValue(wanted)} and linked`;
  const names = showNames(accounts.map(({ accountRef }) => accountRef));
  return answerFault(
    "capability_account_ambiguous",
    `${accounts.length} accounts ${which} to \`${capability}\`, and the call does not say which one to use.`,
    { hint: `Name one by its reference: ${names}.` },
  );
}

/**
 * Which accounts a user has linked, and with which of them an operation is performed. One file for each account, replaced
 * as a whole, so that processes at work at the same time need no lock. It holds what is shown and what a provider gave as
 * references; no credential.
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

/** What a user has linked; kept on disk, apart for each user. */
export interface AccountStore {
  list(userId: string, capability: string): Promise<readonly ProviderAccount[]>;
  put(userId: string, capability: string, account: ProviderAccount): Promise<void>;
  remove(userId: string, capability: string, accountRef: string): Promise<boolean>;
  /** Of all users. What cannot be read is left out. */
  listAll(): readonly LinkedTo[];
  /** Everything of this user, damaged or not. */
  forget(userId: string): void;
}

/** An account, and who has linked it to what. */
export interface LinkedTo {
  readonly userId: string;
  readonly capability: string;
  readonly account: ProviderAccount;
}

const VERSION = 1;
const ENDING = ".json";

interface StoredAccount {
  readonly version: typeof VERSION;
  /** Whose it is; a file of someone else is told apart from a damaged one. */
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
    listAll: () =>
      listStateFolders(folder)
        .flatMap((user) => listStateFolders(user))
        .flatMap((own) =>
          listStateFiles(own, ENDING).flatMap((name) => readAny(join(own, name + ENDING)) ?? []),
        ),
    forget: (userId) => removeFolder(userFolder(folder, userId)),
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

function readAny(file: string): LinkedTo | undefined {
  const stored = fitShape(storedAccountShape, readStateFileIfSound(file));
  if (typeof stored?.user !== "string" || typeof stored.capability !== "string") return undefined;
  return { userId: stored.user, capability: stored.capability, account: stored.account };
}

/** `undefined`: it was unlinked meanwhile. */
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

/** `wanted` is the reference, the name or the email of one. An operation that needs none gets one only if it is named. */
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
    hint: `Begin a sign-in for \`${capability}\` (\`capability auth begin\`); the user completes it.`,
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
    `${accounts.length} accounts ${which} to \`${capability}\`, and it is not said which one is meant.`,
    { hint: `Name one by its reference: ${names}.` },
  );
}

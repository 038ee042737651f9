/**
 * Which accounts of the desk a user has linked: the reference that the broker knows, and where in the vault the tokens are.
 * A file for each user; nothing in it is secret, and nothing of it opens anything for another user.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "../capabilities/capability.ts";
import type { ProviderVault } from "../capabilities/capability-provider.ts";
import { isJsonObject } from "../capabilities/json-object.ts";
import { damagedFile, digestName, readStateFile } from "../capabilities/state-files.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { withLock } from "../trust/lock-file.ts";
import type { Tokens } from "./authorization/device-client.ts";

/** What stands in the vault. */
export interface LinkedDesk {
  readonly account: { readonly id: string; readonly name: string; readonly email: string };
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface LinkedAccounts {
  /** The reference of the account, the same each time it is linked, and the one into the vault. */
  link(desk: LinkedDesk): Promise<{ readonly accountRef: string; readonly vaultRef: string }>;
  find(accountRef: string): Promise<LinkedDesk | undefined>;
  vaultRefOf(accountRef: string): string | undefined;
  /** After tokens were renewed. */
  update(accountRef: string, desk: LinkedDesk): Promise<void>;
  unlink(accountRef: string): Promise<void>;
}

type References = Readonly<Record<string, string>>;

export interface LinkedAccountsPlace {
  /** For all users. */
  readonly folder: string;
  readonly userId: string;
  /** An account is linked for one capability at a time, so that it can be unlinked for one. */
  readonly capabilityId: string;
  /** Of this user. */
  readonly vault: ProviderVault;
}

export function openLinkedAccounts(place: LinkedAccountsPlace): LinkedAccounts {
  const { folder, userId, capabilityId, vault } = place;
  const file = join(folder, `${digestName(userId)}.json`);
  const keyOf = (accountRef: string): string => `${capabilityId} ${accountRef}`;
  /** What stood there before. */
  const setReference = (accountRef: string, vaultRef: string | undefined): string | undefined =>
    withLock(file, () => {
      const { [keyOf(accountRef)]: before, ...others } = readReferences(file);
      const accounts = vaultRef === undefined ? others : { ...others, [keyOf(accountRef)]: vaultRef };
      writeAtomic(file, `${JSON.stringify({ version: 1, accounts }, null, 2)}\n`);
      return before;
    });
  const vaultRefOf = (accountRef: string): string | undefined => {
    const references = readReferences(file);
    const key = keyOf(accountRef);
    return Object.hasOwn(references, key) ? references[key] : undefined;
  };
  return {
    async link(desk) {
      const accountRef = `desk_${createHash("sha256").update(desk.account.id).digest("hex").slice(0, 16)}`;
      const vaultRef = await vault.put(toSecret(desk));
      const before = setReference(accountRef, vaultRef);
      if (before !== undefined) await vault.delete(before);
      return { accountRef, vaultRef };
    },
    vaultRefOf,
    async find(accountRef) {
      const vaultRef = vaultRefOf(accountRef);
      const secret = vaultRef === undefined ? undefined : await vault.get(vaultRef);
      return secret as unknown as LinkedDesk | undefined; // Only `link` and `update` write there.
    },
    async update(accountRef, desk) {
      const vaultRef = vaultRefOf(accountRef);
      if (vaultRef !== undefined) await vault.replace(vaultRef, toSecret(desk));
    },
    async unlink(accountRef) {
      const before = setReference(accountRef, undefined);
      if (before !== undefined) await vault.delete(before);
    },
  };
}

export function linkedDesk(tokens: Tokens, now: number): LinkedDesk {
  const { account, accessToken, refreshToken, expiresInSeconds } = tokens;
  return { account, accessToken, refreshToken, endsAt: now + expiresInSeconds * 1000 };
}

function toSecret({ account, ...tokens }: LinkedDesk): JsonObject {
  return { ...tokens, account: { ...account } };
}

function readReferences(file: string): References {
  const read = readStateFile(file);
  if (read === undefined) return {};
  const accounts = isJsonObject(read) ? read.accounts : undefined;
  if (!isJsonObject(accounts) || !Object.values(accounts).every((ref) => typeof ref === "string"))
    throw damagedFile(file, "it does not hold references to accounts");
  return accounts as References;
}

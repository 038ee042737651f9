/**
 * Refresh tokens that were given out, by their digests alone, on disk so that a restart signs nobody out. Each is replaced
 * when it is used; one that is used again later was stolen from somebody, and ends the whole sign-in.
 */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { isJsonObject } from "../../capabilities/json-object.ts";
import { damagedFile, readStateFile } from "../../capabilities/state-files.ts";
import { writeAtomic } from "../../host/write-atomic.ts";

export interface IssuedTokens {
  /** A new sign-in. */
  issue(account: string): string;
  /** The next token of the sign-in, and whose it is; `undefined`: it is none, or is no longer. */
  renew(refreshToken: string): { readonly account: string; readonly refreshToken: string } | undefined;
  /** Ends the sign-in that the token belongs to. */
  revoke(refreshToken: string): void;
}

interface Entry {
  readonly account: string;
  /** Of one sign-in. */
  readonly family: string;
  readonly issuedAt: number;
  /** When it was replaced. */
  readonly usedAt?: number;
}

/** Two processes of one user may renew at once, or an answer may be lost. */
const REUSE_GRACE_MS = 60_000;
const LIFETIME_MS = 90 * 24 * 3_600_000;

export function openIssuedTokens(root: string, clock: () => number): IssuedTokens {
  const file = join(root, ".authorization", "refresh-tokens.json");
  const entries = readEntries(file);
  const save = (): void => {
    for (const [digest, { issuedAt }] of entries)
      if (clock() - issuedAt > LIFETIME_MS) entries.delete(digest);
    writeAtomic(file, `${JSON.stringify({ version: 1, tokens: Object.fromEntries(entries) }, null, 2)}\n`);
  };
  const add = (account: string, family: string): string => {
    const refreshToken = randomBytes(32).toString("base64url");
    entries.set(digestOf(refreshToken), { account, family, issuedAt: clock() });
    save();
    return refreshToken;
  };
  const endFamily = (family: string): void => {
    for (const [digest, entry] of entries) if (entry.family === family) entries.delete(digest);
    save();
  };
  return {
    issue: (account) => add(account, randomBytes(16).toString("hex")),
    renew(refreshToken) {
      const digest = digestOf(refreshToken);
      const entry = entries.get(digest);
      if (!entry || clock() - entry.issuedAt > LIFETIME_MS) return undefined;
      const { account, family, usedAt = clock() } = entry;
      if (clock() - usedAt > REUSE_GRACE_MS) {
        endFamily(family);
        return undefined;
      }
      entries.set(digest, { ...entry, usedAt });
      return { account, refreshToken: add(account, family) };
    },
    revoke(refreshToken) {
      const entry = entries.get(digestOf(refreshToken));
      if (entry) endFamily(entry.family);
    },
  };
}

function digestOf(refreshToken: string): string {
  return createHash("sha256").update(refreshToken).digest("hex");
}

function readEntries(file: string): Map<string, Entry> {
  const read = readStateFile(file);
  if (read === undefined) return new Map();
  const tokens = isJsonObject(read) ? read.tokens : undefined;
  if (!isJsonObject(tokens) || !Object.values(tokens).every(isEntry))
    throw damagedFile(file, "it does not hold digests of tokens");
  return new Map(Object.entries(tokens as Readonly<Record<string, Entry>>));
}

function isEntry(value: unknown): boolean {
  const { account, family, issuedAt } = isJsonObject(value) ? value : {};
  return typeof account === "string" && typeof family === "string" && typeof issuedAt === "number";
}

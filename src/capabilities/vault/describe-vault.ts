/** How the vault stands, for a report: where its key is and whether others could reach it. Makes nothing, opens no secret. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CapabilityStateError } from "../state-error.ts";
import type { VaultOptions } from "./open-vault.ts";
import { makePrivateFolder, readPrivate } from "./private-file.ts";

export interface VaultState {
  readonly folder: string;
  /** `none`: nothing was ever put in. */
  readonly key: "keychain" | "file" | "none";
  /** The program of the system's keychain, where there is one. */
  readonly keychain?: string;
  readonly fault?: { readonly message: string; readonly hint?: string };
}

export function describeVault({ folder, keychain }: Pick<VaultOptions, "folder" | "keychain">): VaultState {
  const known = { folder, ...(keychain && { keychain: keychain.name }) };
  if (!existsSync(folder)) return { ...known, key: "none" };
  try {
    makePrivateFolder(folder);
    if (readPrivate(join(folder, "keychain.json")) !== undefined) return { ...known, key: "keychain" };
    return { ...known, key: readPrivate(join(folder, "key.json")) === undefined ? "none" : "file" };
  } catch (error) {
    if (!(error instanceof CapabilityStateError)) throw error;
    const { message, hint } = error;
    const key = existsSync(join(folder, "keychain.json")) ? "keychain" : "file";
    return { ...known, key, fault: { message, ...(hint && { hint }) } };
  }
}

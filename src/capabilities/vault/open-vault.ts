/**
 * Secrets that providers keep for users, encrypted on disk: one file each, in a folder for each provider and user. Outside
 * there is only an opaque reference, and it opens nothing for another user or provider.
 */
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { UsageError } from "../../foundation/errors.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Vault } from "../broker-parts.ts";
import type { JsonObject } from "../capability.ts";
import type { ProviderVault } from "../capability-provider.ts";
import { damagedFile, digestName, readStateFile } from "../state-files.ts";
import type { Keychain } from "./keychain.ts";
import { keyIdOf, seal, unseal } from "./seal.ts";
import { openKeys, type VaultKeys } from "./vault-keys.ts";

export interface VaultOptions {
  /** `<home>/.metier/vault`. Made when the first secret comes. */
  readonly folder: string;
  /** Where the key is kept, when the machine has one (`findKeychain`). Absent: in a file of the folder. */
  readonly keychain?: Keychain | undefined;
  onDiagnostic?(diagnostic: Diagnostic): void;
}

const REFERENCE = /^vlt_[0-9a-f]{32}$/;
const ENDING = ".jwe";
const MAX_BYTES = 256 * 1024;

/** Whether a text is a reference into a vault. */
export function isVaultRef(text: string): boolean {
  return REFERENCE.test(text);
}

export function openVault({ folder, keychain, onDiagnostic = () => undefined }: VaultOptions): Vault {
  const keys = openKeys({ folder, keychain, onDiagnostic });
  return { open: (namespace, userId) => openSection({ folder, keys, owner: [namespace, userId] }) };
}

interface Section {
  readonly folder: string;
  readonly keys: VaultKeys;
  /** The provider's namespace and the user's id. */
  readonly owner: readonly [string, string];
}

function openSection({ folder, keys, owner }: Section): ProviderVault {
  const own = join(folder, digestName(JSON.stringify(owner)));
  const fileOf = (ref: string): string | undefined => (isVaultRef(ref) ? join(own, ref + ENDING) : undefined);
  /** With the reference in it, no entry can be put in the place of another. */
  const boundTo = (ref: string): string => JSON.stringify(["metier-vault", 1, ...owner, ref]);
  const sealAs = async (ref: string, secret: JsonObject): Promise<string> => {
    const bytes = Buffer.byteLength(JSON.stringify(secret));
    if (bytes > MAX_BYTES) {
      throw new UsageError(`A secret has ${bytes} bytes; the vault takes at most ${MAX_BYTES}.`);
    }
    return seal(secret, await keys.current(), boundTo(ref));
  };
  return {
    async put(secret) {
      const ref = `vlt_${randomBytes(16).toString("hex")}`;
      writeAtomic(join(own, ref + ENDING), await sealAs(ref, secret));
      return ref;
    },
    async get(ref) {
      const file = fileOf(ref);
      const sealed = file === undefined ? undefined : readStateFile(file);
      if (file === undefined || sealed === undefined) return undefined;
      const id = await keyIdOf(sealed);
      if (id === undefined) throw damagedFile(file, "it is no entry of a vault");
      const secret = await unseal(sealed, await keys.find(id), boundTo(ref));
      if (secret === undefined) throw damagedFile(file, "it was changed, or belongs elsewhere");
      return secret;
    },
    async replace(ref, secret) {
      const file = fileOf(ref);
      if (file === undefined || !existsSync(file)) return false;
      const sealed = await sealAs(ref, secret);
      return withLock(file, () => existsSync(file) && writeAtomic(file, sealed));
    },
    async delete(ref) {
      const file = fileOf(ref);
      if (file === undefined || !existsSync(file)) return false;
      return withLock(file, () => {
        const wasThere = existsSync(file);
        rmSync(file, { force: true });
        return wasThere;
      });
    },
  };
}

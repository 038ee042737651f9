/**
 * What the bridge keeps for one user: pending sign-ins and tokens, each in a file that only you can read. A real
 * provider would encrypt them or use the system keychain.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readStart, writeOnce } from "./files.ts";

export interface Drawer {
  get<Value>(name: string): Value | undefined;
  /** Replaces an entry with the same name. */
  put(name: string, value: object): void;
  remove(name: string): void;
}

const MAX_BYTES = 100_000;

/** Names are hashed, so the path stays inside the user's folder no matter what a user or an account is called. */
export function openDrawer(root: string, userId: string): Drawer {
  const fileOf = (name: string): string => join(root, ".links", hash(userId), `${hash(name)}.json`);
  const remove = (name: string): void => rmSync(fileOf(name), { force: true });
  return {
    get(name) {
      const bytes = readStart(fileOf(name), MAX_BYTES);
      return bytes && JSON.parse(bytes.toString());
    },
    put(name, value) {
      remove(name);
      writeOnce(fileOf(name), JSON.stringify(value));
    },
    remove,
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

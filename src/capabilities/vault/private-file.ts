/** Files that only their owner may see, made once and never replaced, whoever else makes them at the same time. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeOwnedName } from "../../host/owned-names.ts";
import { flushFolder, removeLeftovers } from "../../host/write-atomic.ts";
import { CapabilityStateError } from "../state-error.ts";

const MAX_BYTES = 4096;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `undefined` when there is none. Throws `CapabilityStateError` when others could have read or written it. */
export function readPrivate(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const why = code === "ELOOP" ? "it is a link, and a key is only read from a file in place" : message;
    throw refuseFile(file, why, `Look at \`ls -l '${file}'\` and put the file itself there.`);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      throw refuseFile(file, "it is not a small regular file", `Remove it: \`rm -r '${file}'\`.`);
    }
    checkOwner(file, stats, "600");
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Whether it is ours: `false` when another process was faster, whose file is whole by then. */
export function makePrivate(file: string, text: string): boolean {
  const folder = dirname(file);
  const temporary = join(folder, makeOwnedName({ prefix: `.${basename(file)}.`, suffix: ".tmp" }));
  removeLeftovers(file);
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    linkSync(temporary, file); // Unlike a rename, it fails when the name is taken.
    flushFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  }
}

/** A folder that is there must be this user's alone. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkOwner(folder, statSync(folder), "700");
}

/** Names the one command that sets it right. Systems without such owners have other means. */
function checkOwner(path: string, { uid, mode }: Stats, wanted: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (uid !== user) {
    throw refuseFile(
      path,
      `it belongs to user ${uid}, and you are ${user}`,
      `Run \`sudo chown ${user} '${path}'\`.`,
    );
  }
  if ((mode & 0o077) !== 0) {
    const is = (mode & 0o777).toString(8);
    throw refuseFile(path, `others than you can reach it (mode ${is})`, `Run \`chmod ${wanted} '${path}'\`.`);
  }
}

function refuseFile(path: string, why: string, hint: string): CapabilityStateError {
  return new CapabilityStateError(`The vault is not used, because of \`${path}\`: ${why}.`, hint);
}

/**
 * Files that only their owner may see, such as keys. Made once and never replaced, even if several processes make them
 * at the same time, and not used if others could have read or written them. A refusal's message is only the reason and
 * starts in lower case.
 */
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
import { done, type Refused, type Result, refused } from "../result.ts";
import { flushFolder, makeOwnedName, removeLeftovers } from "./write-atomic.ts";

const MAX_BYTES = 16_384;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `undefined` if there is none. Refused if others could have read or written it. */
export function readPrivate(file: string): Result<string | undefined> {
  let descriptor: number;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return done(undefined);
    const why = code === "ELOOP" ? "it is a link, and keys are read only from a regular file" : message;
    return refused({
      message: why,
      hint: `Check \`ls -l '${file}'\` and replace the link with the file itself.`,
    });
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      return refused({ message: "it is not a small regular file", hint: `Remove it: \`rm -r '${file}'\`.` });
    }
    return checkOwner(file, stats, "600") ?? done(readFileSync(descriptor, "utf8"));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether this call created it; `false` if another process was faster, whose file is complete by then. */
export function makePrivate(file: string, text: string): boolean {
  const folder = dirname(file);
  const temporary = join(folder, makeOwnedName({ prefix: `.${basename(file)}.`, suffix: ".tmp" }));
  removeLeftovers(file);
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    linkSync(temporary, file); // Unlike a rename, it fails if the name is taken.
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

/** An existing folder must belong to this user alone. */
export function makePrivateFolder(folder: string): Result<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return checkOwner(folder, statSync(folder), "700") ?? done(folder);
}

/** Names the one command that fixes it. Systems without such owners have other means. */
function checkOwner(path: string, { uid, mode }: Stats, wanted: string): Refused | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  if (uid !== user) {
    const message = `it belongs to user ${uid}, but you are user ${user}`;
    return refused({ message, hint: `Run \`sudo chown ${user} '${path}'\`.` });
  }
  if ((mode & 0o077) === 0) return undefined;
  const message = `other users can access it (mode ${(mode & 0o777).toString(8)})`;
  return refused({ message, hint: `Run \`chmod ${wanted} '${path}'\`.` });
}

/** Names that someone chose, as names of folders: readable, and one of a kind also where the file system ignores case. */
import { createHash } from "node:crypto";

/** Without `@`, so that nobody can choose a name that stands for another. */
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** A plain name is its own; any other one carries a digest of itself. */
export function folderName(name: string): string {
  return PLAIN.test(name) ? name : distinctName(name, name);
}

/** A name that is told apart from others like it by what it stands for. */
export function distinctName(name: string, meaning: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
  const digest = createHash("sha256").update(meaning).digest("hex");
  return `${plain.slice(0, 40)}@${digest.slice(0, 16)}`;
}

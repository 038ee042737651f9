/**
 * The files of one skill from its server into a folder of their own: each verified, the whole held to the declared content
 * identity, and put in place by one rename. One wrong file refuses the skill; the others of the server are not touched.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import type { RemoteFile } from "../skill/skill.ts";
import { identifyFolder } from "../trust/content-identity.ts";
import type { RemoteEntry } from "./check-entry.ts";
import type { SkillServer } from "./open-server.ts";
import { serverFolder, skillFolder } from "./remote-places.ts";
import { refuseFile, verifyFile, verifyFrontmatter } from "./verify-file.ts";

export interface FetchOrder {
  readonly places: Pick<Places, "cache">;
  readonly label: string;
  readonly entry: RemoteEntry;
  readonly server: Pick<SkillServer, "readFile">;
}

/** The first part of the name of a folder that is being filled. */
export const INCOMING = "incoming-";
const AT_ONCE = 8;
const MAX_FAULTS = 20;

/** Whether the folder holds the skill, byte for byte; hashed anew. */
export function isFetched(folder: string, digest: string): boolean {
  const outcome = identifyFolder(folder);
  return outcome.ok && outcome.identity.digest === digest;
}

/** Why it is refused, file by file; nothing when it is there now. */
export async function fetchSkill(order: FetchOrder): Promise<readonly Diagnostic[]> {
  const { places, label, entry } = order;
  const target = skillFolder(places, label, entry);
  const incoming = join(serverFolder(places, label), `${INCOMING}${randomUUID()}`);
  try {
    const faults = await fetchFiles(order, incoming);
    if (faults.length > 0) return faults;
    if (!isFetched(incoming, entry.digest)) {
      return [refuseFile(label, entry.uri, "remote.changed-content", CHANGED_ON_DISK).diagnostic];
    }
    return putInPlace(incoming, target, entry.digest);
  } finally {
    removeFolder(incoming);
  }
}

const CHANGED_ON_DISK = "what was written of it is not what came; look at what else writes into the cache";

/** `SKILL.md` first: without it nothing else is asked for. */
async function fetchFiles(order: FetchOrder, folder: string): Promise<readonly Diagnostic[]> {
  const { label, entry } = order;
  const isSkillFile = ({ uri }: RemoteFile): boolean => uri === entry.uri;
  const skillFile = entry.files.filter(isSkillFile);
  const others = entry.files.filter((file) => !isSkillFile(file));
  const faults: Diagnostic[] = [];
  for (const batch of [skillFile, ...batches(others)]) {
    const outcomes = await Promise.all(batch.map((file) => fetchFile(order, file, folder)));
    faults.push(...outcomes.filter((outcome) => outcome !== undefined));
    const isLost = faults.some(({ code }) => code === "remote.unreachable");
    if (isLost || faults.length >= MAX_FAULTS || (batch === skillFile && faults.length > 0)) break;
  }
  return faults.length > MAX_FAULTS ? [...faults.slice(0, MAX_FAULTS), refuseMore(label, entry.uri)] : faults;
}

async function fetchFile(
  { label, entry, server }: FetchOrder,
  file: RemoteFile,
  folder: string,
): Promise<Diagnostic | undefined> {
  const said = await server.readFile(file.uri);
  if (!said.ok) return said.diagnostic;
  const verified = verifyFile(label, file, said.value);
  if (!verified.ok) return verified.diagnostic;
  if (file.uri === entry.uri) {
    const differs = await verifyFrontmatter(label, entry, verified.bytes);
    if (differs) return differs;
  }
  const path = join(folder, file.path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, verified.bytes, { flag: "wx", mode: 0o400 });
    return undefined;
  } catch (error) {
    const why = `it cannot be written here: ${(error as Error).message}`;
    return refuseFile(label, file.uri, "remote.content", why).diagnostic;
  }
}

/** Another process may have been quicker; what is there and wrong is replaced. */
function putInPlace(incoming: string, target: string, digest: string): readonly Diagnostic[] {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  if (isFetched(target, digest)) return [];
  removeFolder(target);
  try {
    renameSync(incoming, target);
  } catch (error) {
    if (!isFetched(target, digest)) throw error;
  }
  return [];
}

function refuseMore(label: string, uri: string): Diagnostic {
  return refuseFile(label, uri, "remote.content", "more of its files are wrong, which are not told")
    .diagnostic;
}

function batches(files: readonly RemoteFile[]): readonly (readonly RemoteFile[])[] {
  const count = Math.ceil(files.length / AT_ONCE);
  return Array.from({ length: count }, (_, index) => files.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}

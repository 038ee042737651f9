/**
 * Fetches one skill's files from its server into their own folder: each is verified, the whole must match the declared
 * content identity, and one rename puts it in place. One wrong file refuses the skill; the server's other skills are
 * not affected.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { removeFolder, showPath } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { showNames } from "@metier/base/text";
import { parseSkill, type RemoteFile } from "@metier/skills";
import { identifyFolder, remoteLocation } from "@metier/skills/trust";
import type { ServerConnection } from "./open-server.ts";
import type { RemoteEntry } from "./remote-entry.ts";
import { remoteFolder, serverFolder } from "./remote-index.ts";

interface FetchOrder {
  readonly places: Pick<Places, "cache">;
  readonly label: string;
  readonly entry: RemoteEntry;
  readonly server: Pick<ServerConnection, "readFile">;
}

/** The prefix of a folder that is being filled. */
export const INCOMING = "incoming-";
const AT_ONCE = 8;
const MAX_FAULTS = 20;

/** Whether the folder contains the skill, byte for byte; hashed again. */
export function isFetched(folder: string, digest: string): boolean {
  const outcome = identifyFolder(folder);
  return outcome.ok && outcome.value.digest === digest;
}

/** Why it was refused, file by file; empty if it is there now. */
export async function fetchSkill(order: FetchOrder): Promise<readonly Diagnostic[]> {
  const { places, label, entry } = order;
  const target = remoteFolder(places, label, entry);
  const incoming = join(serverFolder(places, label), `${INCOMING}${randomUUID()}`);
  try {
    const faults = await fetchFiles(order, incoming);
    if (faults.length > 0) return faults;
    if (!isFetched(incoming, entry.digest)) {
      return [refuseFile(label, entry.uri, "remote.changed-content", CHANGED_ON_DISK)];
    }
    return putInPlace(incoming, target, entry.digest);
  } finally {
    removeFolder(incoming);
  }
}

const CHANGED_ON_DISK =
  "its written copy differs from what the server sent; check what else writes to the cache";

/** `SKILL.md` first: without it nothing else is requested. */
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
  if (faults.length <= MAX_FAULTS) return faults;
  const more = "more of its files are wrong; they are not listed";
  return [...faults.slice(0, MAX_FAULTS), refuseFile(label, entry.uri, "remote.content", more)];
}

async function fetchFile(
  { label, entry, server }: FetchOrder,
  file: RemoteFile,
  folder: string,
): Promise<Diagnostic | undefined> {
  const said = await server.readFile(file.uri);
  if (!said.ok) return said.refusal;
  const verified = verifyFile(label, file, said.value);
  if (!verified.ok) return verified.refusal;
  if (file.uri === entry.uri) {
    const differs = await verifyFrontmatter(label, entry, verified.value);
    if (differs) return differs;
  }
  const path = join(folder, file.path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, verified.value, { flag: "wx", mode: 0o400 });
    return undefined;
  } catch (error) {
    const why = `it cannot be written here: ${(error as Error).message}`;
    return refuseFile(label, file.uri, "remote.content", why);
  }
}

/** Another process may have been faster; wrong content is replaced. */
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

function batches(files: readonly RemoteFile[]): readonly (readonly RemoteFile[])[] {
  const count = Math.ceil(files.length / AT_ONCE);
  return Array.from({ length: count }, (_, index) => files.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}

/** The bytes of one file, compared with what the server declared: exactly the requested URI, size, digest. */
export function verifyFile(
  label: string,
  { uri, size, digest }: RemoteFile,
  result: unknown,
): Result<Uint8Array, Diagnostic> {
  const refuse = (code: DiagnosticCode, why: string): Refused<Diagnostic> =>
    refused(refuseFile(label, uri, code, why));
  const content = findContent(uri, result);
  if ("fault" in content) return refuse(content.code, content.fault);
  const bytes = readBytes(content);
  if (bytes === undefined) return refuse("remote.content", "it is neither text nor base64");
  if (bytes.length !== size) {
    return refuse("remote.size", `it has ${bytes.length} bytes, but the server declares ${size}`);
  }
  const actual = digestBytes(bytes);
  if (actual !== digest) {
    return refuse("remote.digest", `its digest is \`${actual}\`, but the server declares \`${digest}\``);
  }
  return done(bytes);
}

/** Compares every field of a verified `SKILL.md`. `undefined` if all match the declaration. */
export async function verifyFrontmatter(
  label: string,
  { uri, frontmatter }: RemoteEntry,
  bytes: Uint8Array,
): Promise<Diagnostic | undefined> {
  const candidate = { form: "directory", file: uri, directory: "", defaultName: frontmatter.name } as const;
  const parsed = await parseSkill(candidate, new TextDecoder().decode(bytes));
  const written = parsed.frontmatter ?? {};
  const fields = new Set([...Object.keys(frontmatter), ...Object.keys(written)]);
  const different = [...fields].filter((field) => !isDeepStrictEqual(frontmatter[field], written[field]));
  if (different.length === 0) return undefined;
  const why = `its frontmatter does not match what the server declares: ${showNames(different.map(shorten))} differ`;
  return refuseFile(label, uri, "remote.frontmatter", why);
}

function refuseFile(label: string, uri: string, code: DiagnosticCode, why: string): Diagnostic {
  return {
    code,
    severity: "error",
    path: remoteLocation({ server: label, uri }),
    message: `The file ${showPath(uri)} from the MCP server \`${label}\` was refused: ${why}.`,
    hint: `If the server changed it, update the list with \`metier remote refresh ${label}\`.`,
  };
}

interface Content {
  readonly uri?: unknown;
  readonly text?: unknown;
  readonly blob?: unknown;
}

/** One content for this URI: anything else was not requested. */
function findContent(
  uri: string,
  result: unknown,
): Content | { readonly code: DiagnosticCode; readonly fault: string } {
  const { contents } = result as { readonly contents?: unknown };
  const list = Array.isArray(contents) ? (contents as readonly Content[]) : [];
  const [first, ...more] = list;
  const other = list.find((content) => content?.uri !== uri);
  if (first && other) {
    const fault = `the server returned ${showPath(String(other.uri))} instead`;
    return { code: "remote.redirect", fault };
  }
  if (first && more.length === 0) return first;
  return { code: "remote.content", fault: `the server returned ${list.length} contents instead of one` };
}

/** Malformed base64 could be read in two ways. */
function readBytes({ text, blob }: Content): Uint8Array | undefined {
  if (typeof text === "string") return Buffer.from(text);
  if (typeof blob !== "string") return undefined;
  const bytes = Buffer.from(blob, "base64");
  return bytes.toString("base64") === blob ? bytes : undefined;
}

const MAX_FIELD = 40;

function shorten(field: string): string {
  return field.length > MAX_FIELD ? `${field.slice(0, MAX_FIELD)}…` : field;
}

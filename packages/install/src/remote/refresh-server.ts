/** Asks a server for its skills, stores the answer, and forgets it again. Fetches no skill files. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { removeFolder, showPath } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import type { RemoteOrigin } from "@metier/skills";
import { remoteLocation, revokeLocations } from "@metier/skills/trust";
import { INCOMING } from "./fetch-skill.ts";
import type { RemoteServer } from "./find-remote.ts";
import {
  listEntries,
  openServer,
  readFreshness,
  refuseEntry,
  type ServerConnection,
  type ServerSurroundings,
} from "./open-server.ts";
import { checkEntry, type EntryFault } from "./remote-entry.ts";
import {
  changeIndex,
  fetchedFolder,
  type IndexedSkill,
  type RemoteIndex,
  readIndex,
  remoteFolder,
  serverFolder,
  serversFolder,
} from "./remote-index.ts";

export interface RemoteParts extends ServerSurroundings {
  readonly places: Pick<Places, "home" | "cache" | "configFile">;
}

interface Refreshed {
  readonly index: RemoteIndex;
  /** What changed, by URI. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

const NOTHING_KNOWN: RemoteIndex = { listedAt: 0, skills: [], refused: [] };

/** When nobody can still be using a folder. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export async function refreshServer(
  remote: RemoteServer,
  parts: RemoteParts,
  signal?: AbortSignal,
): Promise<Result<Refreshed, Diagnostic>> {
  return withServer(remote, parts, signal, async (server) => {
    const { label } = remote;
    const listed = await listEntries(label, server);
    if (!listed.ok) return listed;
    const { entries, refused, ttlMs, cacheScope } = listed.value;
    const askedAt = Date.now();
    const before = readIndex(parts.places, label);
    const known = before.ok ? before.value.skills : [];
    const unlisted = await askForUnlisted(label, server, known, new Set(entries.map(({ uri }) => uri)));
    const skills = [...entries.map((entry) => ({ entry, askedAt, ttlMs, cacheScope })), ...unlisted];
    const index = changeIndex(parts.places, label, () => ({ listedAt: askedAt, skills, refused }));
    tidyFetched(parts.places, label, index);
    return done({ index, ...compareSkills(known, skills) });
  });
}

/** A server's declaration of one skill, whether or not its list has it. */
export async function askForSkill(
  label: string,
  server: ServerConnection,
  uri: string,
): Promise<Result<IndexedSkill, Diagnostic>> {
  const said = await server.getSkill(uri);
  if (!said.ok) return said;
  const checked = checkEntry((said.value as { readonly skill?: unknown }).skill);
  const answered = checked.ok ? checked.value.uri : checked.refusal.uri;
  if (checked.ok && answered === uri) {
    return done({ entry: checked.value, askedAt: Date.now(), ...readFreshness(said.value) });
  }
  const fault = `the server returned another one, ${showPath(String(answered))}`;
  const other: EntryFault[] = answered === uri ? [] : [{ code: "remote.redirect", fault }];
  const faults = checked.ok ? other : [...other, ...checked.refusal.faults];
  const { code, message } = refuseEntry(label, uri, faults);
  const path = remoteLocation({ server: label, uri });
  return refused({ code, severity: "error", path, message });
}

/** A skill known only by its URI: from then on it is known like the others. */
export async function addUnlisted(
  remote: RemoteServer,
  uri: string,
  parts: RemoteParts,
): Promise<Result<IndexedSkill, Diagnostic>> {
  return withServer(remote, parts, undefined, async (server) => {
    const said = await askForSkill(remote.label, server, uri);
    if (said.ok) keepSkill(parts.places, remote.label, { ...said.value, isUnlisted: true });
    return said;
  });
}

/** Replaces what was known about it. */
export function keepSkill(places: RemoteParts["places"], label: string, skill: IndexedSkill): void {
  changeIndex(places, label, (index = NOTHING_KNOWN) => {
    const before = index.skills.find(({ entry }) => entry.uri === skill.entry.uri);
    const others = index.skills.filter((other) => other !== before);
    const isUnlisted = before?.isUnlisted ?? skill.isUnlisted;
    return { ...index, skills: [...others, { ...skill, isUnlisted }] };
  });
}

/** The server no longer has it, or not in a valid form. */
export function dropSkill(places: RemoteParts["places"], label: string, uri: string, why: Diagnostic): void {
  const { code, message } = why;
  changeIndex(places, label, (index = NOTHING_KNOWN) => ({
    ...index,
    skills: index.skills.filter(({ entry }) => entry.uri !== uri),
    refused: [...index.refused.filter((other) => other.uri !== uri), { uri, code, message }],
  }));
}

/** Removes what was stored for servers that the config no longer names. */
export function forgetOthers(places: RemoteParts["places"], labels: readonly string[]): void {
  const folder = serversFolder(places);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (!labels.includes(name)) removeFolder(join(folder, name));
}

export async function withServer<Value>(
  remote: RemoteServer,
  parts: RemoteParts,
  signal: AbortSignal | undefined,
  work: (server: ServerConnection) => Promise<Result<Value, Diagnostic>>,
): Promise<Result<Value, Diagnostic>> {
  const opened = await openServer(remote, parts, signal);
  if (!opened.ok) return opened;
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

/** Those that someone named by URI; one that the server no longer has is forgotten. */
async function askForUnlisted(
  label: string,
  server: ServerConnection,
  known: readonly IndexedSkill[],
  listed: ReadonlySet<string>,
): Promise<readonly IndexedSkill[]> {
  const found: IndexedSkill[] = [];
  for (const { entry, isUnlisted } of known) {
    if (!isUnlisted || listed.has(entry.uri)) continue;
    const said = await askForSkill(label, server, entry.uri);
    if (said.ok) found.push({ ...said.value, isUnlisted });
  }
  return found;
}

function compareSkills(
  before: readonly IndexedSkill[],
  after: readonly IndexedSkill[],
): Omit<Refreshed, "index"> {
  const known = new Map(before.map(({ entry }) => [entry.uri, entry.digest]));
  const now = new Map(after.map(({ entry }) => [entry.uri, entry.digest]));
  return {
    added: [...now.keys()].filter((uri) => !known.has(uri)),
    changed: [...now].flatMap(([uri, digest]) => (known.has(uri) && known.get(uri) !== digest ? [uri] : [])),
    removed: [...known.keys()].filter((uri) => !now.has(uri)),
  };
}

/** Folders of skills that the server no longer offers, and leftovers of a killed fetch. */
function tidyFetched(places: RemoteParts["places"], label: string, { skills }: RemoteIndex): void {
  const kept = new Set(skills.map(({ entry }) => join(remoteFolder(places, label, entry), "..")));
  const fetched = fetchedFolder(places, label);
  const folders = existsSync(fetched) ? readdirSync(fetched).map((name) => join(fetched, name)) : [];
  const incoming = readdirSync(serverFolder(places, label)).filter((name) => name.startsWith(INCOMING));
  const left = incoming.map((name) => join(serverFolder(places, label), name));
  for (const folder of [...folders.filter((path) => !kept.has(path)), ...left]) {
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > KEPT_MS) removeFolder(folder);
  }
}

type ForgetPlaces = Pick<Places, "cache" | "grantsFile">;

/** What was removed when a remote skill or server was forgotten. */
export interface ForgottenSkills {
  /** Names of the skills whose approval was revoked. */
  readonly approvals: readonly string[];
  /** Whether files or a list were stored. */
  readonly isRemoved: boolean;
}

/** Revokes decisions and deletes stored data for a skill. Asks nobody; the server stays configured. */
export function forgetSkill(places: ForgetPlaces, remote: RemoteOrigin): ForgottenSkills {
  const location = remoteLocation(remote);
  const read = readIndex(places, remote.server);
  const known = read.ok ? read.value.skills.find(({ entry }) => entry.uri === remote.uri) : undefined;
  const isRemoved = known !== undefined && remove(remoteFolder(places, remote.server, known.entry));
  return { approvals: takeBack(places, (other) => other === location), isRemoved };
}

export function forgetServer(places: ForgetPlaces, label: string): ForgottenSkills {
  const prefix = remoteLocation({ server: label, uri: "" });
  const isRemoved = remove(serverFolder(places, label));
  return { approvals: takeBack(places, (location) => location.startsWith(prefix)), isRemoved };
}

function takeBack(places: ForgetPlaces, goes: (location: string) => boolean): readonly string[] {
  return revokeLocations(places, goes).map(({ name }) => name);
}

function remove(folder: string): boolean {
  const isThere = existsSync(folder);
  if (isThere) removeFolder(folder);
  return isThere;
}

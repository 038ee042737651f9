/** Asks a server what skills it offers now, and keeps the answer. No file of a skill is fetched by it. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { remoteLocation } from "../trust/remote-trust.ts";
import { checkEntry, type EntryFault } from "./check-entry.ts";
import { INCOMING } from "./fetch-skill.ts";
import { listEntries, readFreshness, refuseEntry } from "./list-entries.ts";
import { openServer, type Said, type ServerSurroundings, type SkillServer } from "./open-server.ts";
import { changeIndex, type IndexedSkill, type RemoteIndex, readIndex } from "./remote-index.ts";
import { fetchedFolder, serverFolder, serversFolder, skillFolder } from "./remote-places.ts";
import type { RemoteServer } from "./remote-server.ts";

export interface RemoteParts extends ServerSurroundings {
  readonly places: Pick<Places, "home" | "cache" | "configFile">;
}

/** What is different from what was known before, by URI. */
export interface IndexChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface Refreshed extends IndexChanges {
  readonly index: RemoteIndex;
}

const NOTHING_KNOWN: RemoteIndex = { listedAt: 0, skills: [], refused: [] };

/** When nobody can be in the middle of using a folder any more. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export async function refreshServer(
  remote: RemoteServer,
  parts: RemoteParts,
  signal?: AbortSignal,
): Promise<Said<Refreshed>> {
  return withServer(remote, parts, signal, async (server) => {
    const { label } = remote;
    const listed = await listEntries(label, server);
    if (!listed.ok) return listed;
    const { entries, refused, ttlMs, cacheScope } = listed.value;
    const askedAt = Date.now();
    const before = readIndex(parts.places, label);
    const known = before.ok ? before.index.skills : [];
    const unlisted = await askForUnlisted(label, server, known, new Set(entries.map(({ uri }) => uri)));
    const skills = [...entries.map((entry) => ({ entry, askedAt, ttlMs, cacheScope })), ...unlisted];
    const index = changeIndex(parts.places, label, () => ({ listedAt: askedAt, skills, refused }));
    tidyFetched(parts.places, label, index);
    return { ok: true, value: { index, ...compareSkills(known, skills) } };
  });
}

/** What a server declares of one skill, whether or not its list has it. */
export async function askForSkill(
  label: string,
  server: SkillServer,
  uri: string,
): Promise<Said<IndexedSkill>> {
  const said = await server.getSkill(uri);
  if (!said.ok) return said;
  const checked = checkEntry((said.value as { readonly skill?: unknown }).skill);
  const answered = checked.ok ? checked.entry.uri : checked.uri;
  if (checked.ok && answered === uri) {
    return { ok: true, value: { entry: checked.entry, askedAt: Date.now(), ...readFreshness(said.value) } };
  }
  const fault = `the server answers with another one, ${showPath(String(answered))}`;
  const other: EntryFault[] = answered === uri ? [] : [{ code: "remote.redirect", fault }];
  const { code, message } = refuseEntry(label, uri, [...other, ...(checked.ok ? [] : checked.faults)]);
  const path = remoteLocation({ server: label, uri });
  return { ok: false, diagnostic: { code, severity: "error", path, message } };
}

/** A skill that only its URI leads to: from then on it is known like the others. */
export async function addUnlisted(
  remote: RemoteServer,
  uri: string,
  parts: RemoteParts,
): Promise<Said<IndexedSkill>> {
  return withServer(remote, parts, undefined, async (server) => {
    const said = await askForSkill(remote.label, server, uri);
    if (said.ok) keepSkill(parts.places, remote.label, { ...said.value, isUnlisted: true });
    return said;
  });
}

/** In place of what was known of it. */
export function keepSkill(places: RemoteParts["places"], label: string, skill: IndexedSkill): void {
  changeIndex(places, label, (index = NOTHING_KNOWN) => {
    const before = index.skills.find(({ entry }) => entry.uri === skill.entry.uri);
    const others = index.skills.filter((other) => other !== before);
    const { isUnlisted } = before ?? skill;
    return { ...index, skills: [...others, { ...skill, ...(isUnlisted && { isUnlisted }) }] };
  });
}

/** The server has it no more, or not as it may be. */
export function dropSkill(places: RemoteParts["places"], label: string, uri: string, why: Diagnostic): void {
  const { code, message } = why;
  changeIndex(places, label, (index = NOTHING_KNOWN) => ({
    ...index,
    skills: index.skills.filter(({ entry }) => entry.uri !== uri),
    refused: [...index.refused.filter((other) => other.uri !== uri), { uri, code, message }],
  }));
}

/** What was kept of servers that the config does not name any more goes with them. */
export function forgetOthers(places: RemoteParts["places"], labels: readonly string[]): void {
  const folder = serversFolder(places);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (!labels.includes(name)) removeFolder(join(folder, name));
}

export async function withServer<Value>(
  remote: RemoteServer,
  parts: RemoteParts,
  signal: AbortSignal | undefined,
  work: (server: SkillServer) => Promise<Said<Value>>,
): Promise<Said<Value>> {
  const opened = await openServer(remote, parts, signal);
  if (!opened.ok) return opened;
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

/** Those that someone named by their URIs; one that the server does not have any more is forgotten. */
async function askForUnlisted(
  label: string,
  server: SkillServer,
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

function compareSkills(before: readonly IndexedSkill[], after: readonly IndexedSkill[]): IndexChanges {
  const known = new Map(before.map(({ entry }) => [entry.uri, entry.digest]));
  const now = new Map(after.map(({ entry }) => [entry.uri, entry.digest]));
  return {
    added: [...now.keys()].filter((uri) => !known.has(uri)),
    changed: [...now].flatMap(([uri, digest]) => (known.has(uri) && known.get(uri) !== digest ? [uri] : [])),
    removed: [...known.keys()].filter((uri) => !now.has(uri)),
  };
}

/** Folders of what the server does not offer any more, and what a fetch that was killed has left. */
function tidyFetched(places: RemoteParts["places"], label: string, { skills }: RemoteIndex): void {
  const kept = new Set(skills.map(({ entry }) => join(skillFolder(places, label, entry), "..")));
  const fetched = fetchedFolder(places, label);
  const folders = existsSync(fetched) ? readdirSync(fetched).map((name) => join(fetched, name)) : [];
  const incoming = readdirSync(serverFolder(places, label)).filter((name) => name.startsWith(INCOMING));
  const left = incoming.map((name) => join(serverFolder(places, label), name));
  for (const folder of [...folders.filter((path) => !kept.has(path)), ...left]) {
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > KEPT_MS) removeFolder(folder);
  }
}

/** Agents and their versions: a version never changes, so that a run that waits for days goes on with what it was given. */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import type { RecordStore, StoredRecord } from "@metier/durable";

const KIND = "agent";

export interface AgentVersion {
  readonly name: string;
  readonly version: number;
  /** Instructions, model, skills, tools and limits, as they were given. */
  readonly definition: JsonObject;
  readonly createdAt: number;
}

/** `name` is the newest version, `name@2` the second. An agent that was removed has none for new runs. */
export async function findAgent(
  records: RecordStore,
  tenant: string,
  reference: string,
): Promise<AgentVersion | undefined> {
  const [, name = "", asked] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:@(\d{1,6}))?$/.exec(reference) ?? [];
  const head = name === "" ? undefined : await records.get({ tenant, kind: KIND, id: name });
  if (head === undefined) return undefined;
  const version = asked === undefined ? newestOf(head) : Number(asked);
  const stored = await records.get({ tenant, kind: versionKind(name), id: versionId(version) });
  return stored && toVersion(name, stored);
}

export async function listAgents(
  records: RecordStore,
  tenant: string,
  after: string | undefined,
  limit: number,
): Promise<readonly AgentVersion[]> {
  const heads = await records.list({ tenant, kind: KIND, after, limit });
  const found = await Promise.all(heads.map(({ id }) => findAgent(records, tenant, id)));
  return found.filter((agent) => agent !== undefined);
}

/** All of them, the oldest first. */
export async function listVersions(
  records: RecordStore,
  tenant: string,
  name: string,
): Promise<readonly AgentVersion[]> {
  const stored = await records.list({ tenant, kind: versionKind(name), limit: 1000 });
  return stored.map((version) => toVersion(name, version));
}

/** `isNew`: it must not be there yet; otherwise it must. `undefined`: that is not so, or somebody was faster. */
export async function addVersion(
  records: RecordStore,
  tenant: string,
  name: string,
  definition: JsonObject,
  isNew: boolean,
): Promise<AgentVersion | undefined> {
  const key = { tenant, kind: KIND, id: name };
  const head = await records.get(key);
  if ((head === undefined) !== isNew) return undefined;
  // Versions of one that was removed stay for the runs that have them, and their numbers are not given again.
  const last = (await listVersions(records, tenant, name)).at(-1)?.version ?? 0;
  const stored = await records.put(
    { tenant, kind: versionKind(name), id: versionId(last + 1) },
    { definition },
    0,
  );
  if (stored === undefined) return undefined;
  const changed = await records.put(key, { newest: last + 1 }, head?.revision ?? 0);
  return changed && toVersion(name, stored);
}

export function removeAgent(records: RecordStore, tenant: string, name: string): Promise<boolean> {
  return records.delete({ tenant, kind: KIND, id: name });
}

function newestOf({ body }: StoredRecord): number {
  return typeof body.newest === "number" ? body.newest : 1;
}

function toVersion(name: string, { id, body, createdAt }: StoredRecord): AgentVersion {
  const definition = isJsonObject(body.definition) ? body.definition : {};
  return { name, version: Number(id), definition, createdAt };
}

function versionKind(name: string): string {
  return `agent-version/${name}`;
}

/** With zeros in front, so that ids sort like numbers. */
function versionId(version: number): string {
  return String(version).padStart(6, "0");
}

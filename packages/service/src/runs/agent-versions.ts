/**
 * Agents and their versions: a version never changes, so that a run that waits for days continues with what it was
 * given.
 */
import { type JsonObject, presentFields } from "@metier/base/json";
import { fitShape, listShape, tableShape, testedShape } from "@metier/base/shape";
import type { RecordStore, StoredRecord } from "@metier/durable";
import { boundedText } from "../http/query-shapes.ts";
import { type Actor, tellOf } from "../keys/audit-line.ts";

const KIND = "agent";
const PAGE = 500;

/** An agent, in one version. */
export interface AgentDefinition {
  readonly instructions: string;
  /** A name for people; absent: its name in paths. */
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** An alias, or `provider/model`. */
  readonly model?: string | undefined;
  /** The only skills it runs; absent: all. */
  readonly skills?: readonly string[] | undefined;
  /** The only tools it may call, among those its runs may call at all; absent: all of them. */
  readonly tools?: readonly string[] | undefined;
  readonly limits?: AgentLimits | undefined;
}

interface AgentLimits {
  readonly maxIterations?: number;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

const limitShape = testedShape(
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value > 0,
  "a number above 0",
);

export const agentFields = {
  instructions: boundedText(100_000, 1),
  title: boundedText(256, 1),
  description: boundedText(1_000),
  model: boundedText(200, 1),
  skills: listShape(boundedText(256, 1)),
  tools: listShape(boundedText(256, 1)),
  limits: tableShape<AgentLimits>({
    maxIterations: limitShape,
    timeoutMs: limitShape,
    maxOutputBytes: limitShape,
    maxTokens: limitShape,
    maxCost: limitShape,
  }),
};

const definitionShape = tableShape<AgentDefinition>(agentFields, ["instructions"]);

export interface AgentVersion {
  readonly name: string;
  readonly version: number;
  readonly definition: AgentDefinition;
  readonly createdAt: number;
}

/** `name` is the newest version, `name@2` the second. A removed agent has none for new runs. */
export async function findAgentVersion(
  records: RecordStore,
  tenant: string,
  reference: string,
): Promise<AgentVersion | undefined> {
  const [name, asked] = splitReference(reference);
  const head = name === "" ? undefined : await records.get({ tenant, kind: KIND, id: name });
  return head && readStored(records, tenant, name, asked ?? newestOf(head));
}

/** For a run with this version: even if the agent was removed since. */
export async function findPinnedAgent(
  records: RecordStore,
  tenant: string,
  reference: string,
): Promise<AgentVersion | undefined> {
  const [name, version] = splitReference(reference);
  return version === undefined ? undefined : readStored(records, tenant, name, version);
}

function splitReference(reference: string): readonly [name: string, version: number | undefined] {
  const [, name = "", version] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:@(\d{1,6}))?$/.exec(reference) ?? [];
  return [name, version === undefined ? undefined : Number(version)];
}

async function readStored(
  records: RecordStore,
  tenant: string,
  name: string,
  version: number,
): Promise<AgentVersion | undefined> {
  const stored = await records.get({ tenant, kind: versionKind(name), id: versionId(version) });
  return stored && readVersion(name, stored);
}

/** Their names, in the order in which they were made. */
export async function listAgents(
  records: RecordStore,
  tenant: string,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly string[]> {
  return (await records.list({ tenant, kind: KIND, ...page })).map(({ id }) => id);
}

/** Oldest first, after the version `after`. */
export async function listVersions(
  records: RecordStore,
  tenant: string,
  name: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly AgentVersion[]> {
  const behind = after === undefined ? undefined : versionId(Number(after));
  const stored = await records.list({ tenant, kind: versionKind(name), after: behind, limit });
  return stored.flatMap((version) => readVersion(name, version) ?? []);
}

/** Also for a removed agent, and an interrupted change; 0: there never was one. */
async function lastVersion(records: RecordStore, tenant: string, name: string): Promise<number> {
  let last = 0;
  for (;;) {
    const after = last === 0 ? undefined : String(last);
    const found = (await listVersions(records, tenant, name, { after, limit: PAGE })).at(-1);
    if (found === undefined) return last;
    last = found.version;
  }
}

/** `isNew`: it must not exist yet; otherwise it must. `undefined`: it doesn't, or someone else was faster. */
export async function addVersion(
  records: RecordStore,
  by: Actor,
  name: string,
  definition: AgentDefinition,
  isNew: boolean,
): Promise<AgentVersion | undefined> {
  const { tenant } = by;
  const key = { tenant, kind: KIND, id: name };
  const head = await records.get(key);
  if ((head === undefined) !== isNew) return undefined;
  // Versions of a removed agent stay for the runs that have them, and their numbers aren't reused.
  const last = await lastVersion(records, tenant, name);
  const stored = await records.put(
    { tenant, kind: versionKind(name), id: versionId(last + 1) },
    { definition: presentFields(definition) as unknown as JsonObject },
    0,
  );
  if (stored === undefined) return undefined;
  const line = tellOf(by, isNew ? "agent.created" : "agent.changed", name, { version: last + 1 });
  const changed = await records.put(key, { newest: last + 1 }, head?.revision ?? 0, line);
  return changed && readVersion(name, stored);
}

export function removeAgent(records: RecordStore, by: Actor, name: string): Promise<boolean> {
  return records.delete({ tenant: by.tenant, kind: KIND, id: name }, tellOf(by, "agent.removed", name));
}

function newestOf({ body }: StoredRecord): number {
  return typeof body.newest === "number" ? body.newest : 1;
}

function readVersion(name: string, { id, body, createdAt }: StoredRecord): AgentVersion | undefined {
  const definition = fitShape(definitionShape, body.definition);
  return definition && { name, version: Number(id), definition, createdAt };
}

function versionKind(name: string): string {
  return `agent-version/${name}`;
}

/** With zeros in front, so that ids sort like numbers. */
function versionId(version: number): string {
  return String(version).padStart(6, "0");
}

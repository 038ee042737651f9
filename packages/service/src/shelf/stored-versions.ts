/** Records of uploaded versions: one per name, and one per version by content identity. */
import { presentFields } from "@metier/base/json";
import { choiceShape, countShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import type { NeededSnapshot, NewAuditLine, RecordStore } from "@metier/durable";
import { tellOf } from "../keys/audit-line.ts";
import type { ServedVersion } from "./skill-shelf.ts";

const KIND = "skill";
const MOST_NAMES = 10_000;
const MOST_VERSIONS = 1_000;

export interface StoredVersion extends ServedVersion {
  readonly description: string;
  /** Where its content is stored; absent: an older version kept it in one machine's folder. */
  readonly snapshot?: string | undefined;
}

const versionShape = recordShape<StoredVersion>(
  {
    digest: textShape,
    description: textShape,
    trust: choiceShape("trusted", "untrusted"),
    uploadedAt: countShape,
    uploadedBy: textShape,
    grantedBy: textShape,
    files: countShape,
    bytes: countShape,
    snapshot: textShape,
  },
  ["grantedBy", "snapshot"],
);

/** Names that have a version. */
export async function listUploaded(records: RecordStore, tenant: string): Promise<readonly string[]> {
  return (await records.list({ tenant, kind: KIND, limit: MOST_NAMES })).map(({ id }) => id);
}

/** Newest first. */
export async function readVersions(
  records: RecordStore,
  tenant: string,
  name: string,
): Promise<readonly StoredVersion[]> {
  const stored = await records.list({ tenant, kind: versionKind(name), limit: MOST_VERSIONS });
  const versions = stored.flatMap(({ body }) => fitShape(versionShape, body) ?? []);
  return versions.sort((a, b) => b.uploadedAt - a.uploadedAt || compareText(a.digest, b.digest));
}

/** The version as stored, which may be an earlier upload of the same content. */
export async function addStored(
  records: RecordStore,
  tenant: string,
  name: string,
  version: StoredVersion,
): Promise<StoredVersion> {
  await records.put({ tenant, kind: KIND, id: name }, {}, 0);
  const key = { tenant, kind: versionKind(name), id: version.digest };
  const line = lineOf(tenant, version.uploadedBy, "skill.uploaded", name, version.digest);
  const isNew = (await records.put(key, presentFields({ ...version }), 0, line)) !== undefined;
  if (isNew) return version;
  await rememberSnapshot(records, tenant, name, version);
  return fitShape(versionShape, (await records.get(key))?.body) ?? version;
}

/** Records where a version's content is now stored. */
export async function rememberSnapshot(
  records: RecordStore,
  tenant: string,
  name: string,
  { digest, snapshot }: Pick<StoredVersion, "digest" | "snapshot">,
): Promise<void> {
  const key = { tenant, kind: versionKind(name), id: digest };
  for (;;) {
    const stored = await records.get(key);
    const version = stored && fitShape(versionShape, stored.body);
    if (stored === undefined || version === undefined || version.snapshot === snapshot) return;
    if (await records.put(key, presentFields({ ...version, snapshot }), stored.revision)) return;
  }
}

/** For all tenants: the snapshots that versions need. */
export async function listVersionSnapshots(records: RecordStore): Promise<readonly NeededSnapshot[]> {
  const needed: NeededSnapshot[] = [];
  for (const { tenant, id: name } of await records.listAll(KIND)) {
    let after: string | undefined;
    do {
      const page = await records.list({ tenant, kind: versionKind(name), after, limit: MOST_VERSIONS });
      const snapshots = page.flatMap(({ body }) => fitShape(versionShape, body)?.snapshot ?? []);
      needed.push(...snapshots.map((snapshot) => ({ tenant, name: snapshot })));
      after = page.length === MOST_VERSIONS ? page.at(-1)?.id : undefined;
    } while (after !== undefined);
  }
  return needed;
}

/** `undefined`: there is no such version. The first grant stays recorded. */
export async function grantStored(
  records: RecordStore,
  tenant: string,
  name: string,
  digest: string,
  by: string,
): Promise<StoredVersion | undefined> {
  const key = { tenant, kind: versionKind(name), id: digest };
  for (;;) {
    const stored = await records.get(key);
    const version = stored && fitShape(versionShape, stored.body);
    if (stored === undefined || version === undefined) return undefined;
    const granted: StoredVersion = { ...version, trust: "trusted", grantedBy: version.grantedBy ?? by };
    const line = lineOf(tenant, by, "skill.granted", name, digest);
    if (await records.put(key, presentFields({ ...granted }), stored.revision, line)) return granted;
  }
}

/** Returns whether there was one. */
export async function removeStored(
  records: RecordStore,
  tenant: string,
  name: string,
  digest: string,
  by: string,
): Promise<boolean> {
  const line = lineOf(tenant, by, "skill.removed", name, digest);
  const wasThere = await records.delete({ tenant, kind: versionKind(name), id: digest }, line);
  const isLast = wasThere && (await readVersions(records, tenant, name)).length === 0;
  if (isLast) await records.delete({ tenant, kind: KIND, id: name });
  return wasThere;
}

function versionKind(name: string): string {
  return `skill-version/${name}`;
}

function lineOf(tenant: string, keyId: string, action: string, name: string, digest: string): NewAuditLine {
  return tellOf({ tenant, keyId }, action, name, { digest });
}

/** The server's skills that other tenants were given: one record each, under the tenant that has it. */
import type { JsonObject } from "@metier/base/json";
import { choiceShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import type { NewAuditLine, RecordStore } from "@metier/durable";
import type { PublishedContent } from "../shared/published-skills.ts";

/** As last published, for machines whose home doesn't have it. */
export interface SkillGift extends PublishedContent {
  readonly description: string;
  readonly trust: "trusted" | "untrusted";
}

interface StoredGiven extends SkillGift {
  readonly givenAt: number;
}

const KIND = "given-skill";
const MOST_GIVEN = 1_000;

const givenShape = recordShape<SkillGift>({
  name: textShape,
  description: textShape,
  trust: choiceShape("trusted", "untrusted"),
  digest: textShape,
  snapshot: textShape,
  entry: textShape,
  form: choiceShape("directory", "markdown", "yaml"),
});

export async function listGiven(records: RecordStore, tenant: string): Promise<readonly StoredGiven[]> {
  const stored = await records.list({ tenant, kind: KIND, limit: MOST_GIVEN });
  return stored.flatMap(({ body, createdAt }) => {
    const skill = fitShape(givenShape, body);
    return skill ? [{ ...skill, givenAt: createdAt }] : [];
  });
}

/** For all tenants. Stored under the tenant `default`. */
export async function listGivenSnapshots(records: RecordStore): Promise<readonly string[]> {
  const stored = await records.listAll(KIND);
  return stored.flatMap(({ body }) => fitShape(givenShape, body)?.snapshot ?? []);
}

/** Giving a skill again updates its content. Returns whether it was new. */
export async function keepGiven(
  records: RecordStore,
  tenant: string,
  skill: SkillGift,
  line?: NewAuditLine,
): Promise<boolean> {
  const key = { tenant, kind: KIND, id: skill.name };
  const body: JsonObject = { ...skill };
  for (;;) {
    const before = await records.get(key);
    if (await records.put(key, body, before?.revision ?? 0, before === undefined ? line : undefined))
      return before === undefined;
  }
}

/** Returns whether there was one. */
export function removeGiven(
  records: RecordStore,
  tenant: string,
  name: string,
  line: NewAuditLine,
): Promise<boolean> {
  return records.delete({ tenant, kind: KIND, id: name }, line);
}

/**
 * Publishes a home's skills for other machines: their contents are snapshots of the tenant `default`, by identity, each
 * with a record that keeps it from being collected. Published when someone orders a run that may use them. The same
 * content from two homes may be two snapshots, because files have times.
 */
import { done, type Result } from "@metier/base/result";
import { dropOldest, mapBounded } from "@metier/base/turns";
import { forTenant, type NeededSnapshot, type RecordStore, type SnapshotRefusal } from "@metier/durable";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { SkillContents } from "../shelf/skill-contents.ts";
import type { IdentifiedSkill } from "./home-skills.ts";

/** A home's skill, as an order names it. */
export interface PublishedContent {
  readonly name: string;
  readonly digest: string;
  readonly snapshot: string;
  readonly entry: string;
  readonly form: IdentifiedSkill["content"]["form"];
}

export interface SkillPublisher {
  /** Stores what isn't stored yet. Refused if storage is full or a skill can't be read. */
  publish(skills: readonly IdentifiedSkill[]): Promise<Result<readonly PublishedContent[], SnapshotRefusal>>;
}

const KIND = "published-skill";
/** How often to record that runs of it are still ordered. */
const RENEW_MS = 86_400_000;
const MOST_KNOWN = 5_000;
const MOST_AT_ONCE = 4;

interface PublisherParts {
  readonly records: RecordStore;
  readonly contents: SkillContents;
  readonly now: () => number;
}

type Published = Result<PublishedContent, SnapshotRefusal>;

interface KnownPublished {
  readonly at: number;
  readonly skill: PublishedContent;
}

export function openPublisher({ records, contents, now }: PublisherParts): SkillPublisher {
  const known = new Map<string, KnownPublished>();
  /** A hundred runs that are ordered at once wait for one publication. */
  const underWay = new Map<string, Promise<Published>>();
  const publishOne = (skill: IdentifiedSkill): Promise<Published> => {
    const id = JSON.stringify([skill.digest, skill.name, skill.entry]);
    const before = known.get(id);
    if (before !== undefined && now() - before.at < RENEW_MS) return Promise.resolve(done(before.skill));
    const begun = underWay.get(id) ?? publishNow(id, skill).finally(() => underWay.delete(id));
    underWay.set(id, begun);
    return begun;
  };
  const publishNow = async (id: string, skill: IdentifiedSkill): Promise<Published> => {
    const { name, digest, entry, content } = skill;
    const snapshot = await contents.publish({ tenant: DEFAULT_TENANT, name, digest }, content);
    if (!snapshot.ok) return snapshot;
    const published = { name, digest, snapshot: snapshot.value, entry, form: content.form };
    await forTenant(DEFAULT_TENANT, () => renew(records, published));
    known.delete(id);
    known.set(id, { at: now(), skill: published });
    dropOldest(known, MOST_KNOWN);
    return done(published);
  };
  return {
    async publish(skills) {
      const published: PublishedContent[] = [];
      for (const result of await mapBounded(skills, MOST_AT_ONCE, publishOne)) {
        if (!result.ok) return result;
        published.push(result.value);
      }
      return done(published);
    },
  };
}

/** Only the time matters: `updatedAt` says when it was last ordered. */
async function renew(records: RecordStore, skill: PublishedContent): Promise<void> {
  const key = { tenant: DEFAULT_TENANT, kind: KIND, id: skill.snapshot };
  for (;;) {
    const stored = await records.get(key);
    if (await records.put(key, { ...skill }, stored?.revision ?? 0)) return;
  }
}

/** Contents that runs may still need, each with the time of its last order. */
export async function listPublished(
  records: RecordStore,
): Promise<readonly (NeededSnapshot & { readonly orderedAt: number })[]> {
  const stored = await records.listAll(KIND);
  return stored.map(({ tenant, id, updatedAt }) => ({ tenant, name: id, orderedAt: updatedAt }));
}

export async function forgetPublished(records: RecordStore, { tenant, name }: NeededSnapshot): Promise<void> {
  await records.delete({ tenant, kind: KIND, id: name });
}

/** The message contains no path of the server. */
export function refusePublishing({ isFull }: SnapshotRefusal): Result<never, HttpRefusal> {
  const [status, code] = isFull ? ([413, "storage_full"] as const) : ([503, "skills_unpublished"] as const);
  const why = isFull
    ? "the tenant `default` has used up its storage quota"
    : "a skill cannot be read, or keeps changing";
  const hint = "An admin can raise the quota, or check the server's skills with `metier validate`.";
  return refuse(status, code, `The server's skills cannot be published for other machines: ${why}.`, hint);
}

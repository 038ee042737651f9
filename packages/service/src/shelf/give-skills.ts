/** Gives skills of the server to other tenants: by name, with the current content of the server's home. */
import { done, type Result } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { RecordStore } from "@metier/durable";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { tellOf } from "../keys/audit-line.ts";
import type { HomeSkills, IdentifiedSkill } from "../shared/home-skills.ts";
import { type PublishedContent, refusePublishing, type SkillPublisher } from "../shared/published-skills.ts";
import { keepGiven, listGiven, removeGiven, type SkillGift } from "./given-skills.ts";
import type { ServedGift, SkillShelf } from "./skill-shelf.ts";

export interface ShelfGifts {
  /** With the content of this machine's home if it has the skill, otherwise as last published. */
  list(tenant: string): Promise<readonly ServedGift[]>;
  give: SkillShelf["give"];
  takeBack: SkillShelf["takeBack"];
  /** For a new run: where the contents of these skills are stored. */
  publish(
    tenant: string,
    names: readonly string[],
  ): Promise<Result<readonly (PublishedContent & Pick<ServedGift, "trust">)[], HttpRefusal>>;
}

interface GiftParts {
  readonly records: RecordStore;
  readonly home: HomeSkills;
  readonly publisher: SkillPublisher;
}

export function openGifts({ records, home, publisher }: GiftParts): ShelfGifts {
  const findOwn = async (names: readonly string[]): Promise<ReadonlyMap<string, IdentifiedSkill>> => {
    const own = names.length === 0 ? [] : (await home.list()).filter(({ name }) => names.includes(name));
    return new Map(own.flatMap((skill) => home.identify(skill) ?? []).map((skill) => [skill.name, skill]));
  };
  const publishOwn = async (skill: IdentifiedSkill): Promise<Result<SkillGift, HttpRefusal>> => {
    const published = await publisher.publish([skill]);
    if (!published.ok) return refusePublishing(published.refusal);
    const [stored] = published.value;
    if (stored === undefined) throw new Error("What was published is in the answer.");
    const { description, trust } = skill;
    return done({ ...stored, description, trust });
  };
  return {
    async list(tenant) {
      const given = await listGiven(records, tenant);
      const own = await findOwn(given.map(({ name }) => name));
      return given.map(({ name, givenAt, ...published }) => {
        const { description, trust, digest } = own.get(name) ?? published;
        return { name, description, trust, digest, givenAt };
      });
    },
    async give(tenant, name, by) {
      const skill = (await findOwn([name])).get(name);
      if (skill === undefined) return refuseUnknown(name);
      const given = await publishOwn(skill);
      if (!given.ok) return given;
      const { description, trust, digest } = given.value;
      await keepGiven(
        records,
        tenant,
        given.value,
        tellOf({ tenant, keyId: by }, "skill.given", name, { digest }),
      );
      const stored = (await listGiven(records, tenant)).find((other) => other.name === name);
      return done({ name, description, trust, digest, givenAt: stored?.givenAt ?? 0 });
    },
    takeBack: (tenant, name, by) =>
      removeGiven(records, tenant, name, tellOf({ tenant, keyId: by }, "skill.taken-back", name)),
    async publish(tenant, names) {
      const own = await findOwn(names);
      const published: SkillGift[] = [];
      for (const { givenAt: _, ...before } of await listGiven(records, tenant)) {
        if (!names.includes(before.name)) continue;
        const skill = own.get(before.name);
        const now = skill === undefined ? done(before) : await publishOwn(skill);
        if (!now.ok) return now;
        // For machines that don't have it.
        if (now.value.snapshot !== before.snapshot) await keepGiven(records, tenant, now.value);
        published.push(now.value);
      }
      return done(published);
    },
  };
}

function refuseUnknown(name: string): Result<never, HttpRefusal> {
  const message = `The server has no skill called ${showValue(name)} to give.`;
  return refuse(
    422,
    "unknown_skill",
    message,
    "`GET /v1/skills` with a key of the tenant `default` lists them.",
  );
}

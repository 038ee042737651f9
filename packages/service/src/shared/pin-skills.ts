/**
 * Which skills a run has: decided when it is ordered, and the same wherever it continues. A skill's run has that one; a
 * conversation turn has all of its tenant's. The tenant `default` has the home's skills: as they are on a single
 * machine, and as published with several.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { done, type Result, refused } from "@metier/base/result";
import { mapBounded } from "@metier/base/turns";
import type { RecordStore } from "@metier/durable";
import type { HttpRefusal } from "../http/refusal.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ShelfGifts } from "../shelf/give-skills.ts";
import type { SkillContents } from "../shelf/skill-contents.ts";
import type { ServedSkill, SkillAtHand, SkillShelf } from "../shelf/skill-shelf.ts";
import type { HomeSkills } from "./home-skills.ts";
import { openCatalogs, type PinnedSkill } from "./pinned-catalogs.ts";
import { type PublishedContent, refusePublishing, type SkillPublisher } from "./published-skills.ts";

interface PinParts extends Pick<SkillShelf, "list" | "open"> {
  readonly records: RecordStore;
  readonly contents: SkillContents;
  readonly home: HomeSkills;
  readonly gifts: ShelfGifts;
  readonly publisher: SkillPublisher;
  readonly isShared: boolean;
  readonly now: () => number;
}

const MOST_AT_ONCE = 4;

export function openPins(parts: PinParts): Pick<SkillShelf, "pin" | "openPinned"> {
  const { list } = parts;
  const catalogs = openCatalogs(parts.records, parts.now);
  return {
    async pin(tenant, name, listed) {
      if (tenant === DEFAULT_TENANT && !parts.isShared) return done(undefined);
      const skills = listed ?? (await list(tenant));
      // For an upload, the order itself contains the version.
      if (skills.some((skill) => skill.name === name && skill.source === "upload")) return done(undefined);
      const pinned =
        tenant === DEFAULT_TENANT ? await pinHome(parts) : await pinTenant(parts, tenant, skills, name);
      return pinned.ok ? done(await catalogs.keep(tenant, pinned.value)) : pinned;
    },
    async openPinned(tenant, pin) {
      const skills = await catalogs.read(tenant, pin);
      if (skills === undefined) return refuseUnknown();
      const given = tenant === DEFAULT_TENANT ? [] : (await parts.gifts.list(tenant)).map(({ name }) => name);
      const isAllowed = ({ origin, name }: PinnedSkill): boolean =>
        origin === "upload" || tenant === DEFAULT_TENANT || given.includes(name);
      const wanted = skills.filter(isAllowed);
      const opened = await mapBounded(wanted, MOST_AT_ONCE, (skill) => openPinned(parts, tenant, skill));
      const shelved: SkillAtHand[] = [];
      for (const result of opened) {
        if (!result.ok) return result;
        if (result.value !== undefined) shelved.push(result.value);
      }
      return done(shelved);
    },
  };
}

/** Every enabled skill, including those that only models use or that other skills call. */
async function pinHome({ home, publisher }: PinParts): Promise<Result<readonly PinnedSkill[], HttpRefusal>> {
  const skills = (await home.list()).flatMap((skill) => home.identify(skill) ?? []);
  const published = await publisher.publish(skills);
  if (!published.ok) return refusePublishing(published.refusal);
  const trust = new Map(skills.map((skill) => [skill.name, skill.trust]));
  return done(published.value.map((skill) => fromHome(skill, trust.get(skill.name) ?? "untrusted")));
}

async function pinTenant(
  { gifts }: PinParts,
  tenant: string,
  skills: readonly ServedSkill[],
  name: string | undefined,
): Promise<Result<readonly PinnedSkill[], HttpRefusal>> {
  const wanted = skills.filter((skill) => name === undefined || skill.name === name);
  const given = wanted.filter(({ source }) => source === "server").map((skill) => skill.name);
  const published = given.length === 0 ? done([]) : await gifts.publish(tenant, given);
  if (!published.ok) return published;
  const uploads = wanted.flatMap(({ source, name: called, current, trust }): PinnedSkill[] =>
    source === "upload" && current !== undefined
      ? [{ name: called, digest: current, origin: "upload", trust }]
      : [],
  );
  return done([...published.value.map((skill) => fromHome(skill, skill.trust)), ...uploads]);
}

function fromHome(
  { name, digest, snapshot, entry, form }: PublishedContent,
  trust: PinnedSkill["trust"],
): PinnedSkill {
  return { name, digest, origin: "home", trust, snapshot, entry, form };
}

/** `undefined`: it has been removed since. */
async function openPinned(
  { contents, open }: PinParts,
  tenant: string,
  { name, digest, origin, trust, snapshot, entry, form }: PinnedSkill,
): Promise<Result<SkillAtHand | undefined>> {
  if (origin === "upload") return open(tenant, name, digest);
  const opened = await contents.open({ tenant: DEFAULT_TENANT, name, digest, entry, snapshot });
  if (!opened.ok) return opened;
  const path = form === "directory" ? opened.value : fileIn(opened.value);
  return done({ name, digest, path, isTrusted: trust === "trusted" });
}

/** A flat skill is one file. */
function fileIn(folder: string): string {
  const [file = ""] = readdirSync(folder);
  return join(folder, file);
}

function refuseUnknown(): Result<never> {
  return refused({
    message: "The record of which skills this run may use is gone.",
    hint: "Start a new run.",
  });
}

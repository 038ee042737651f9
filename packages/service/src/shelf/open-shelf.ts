/**
 * The shelf on records and contents. An upload is unpacked separately, checked and stored, and only then recorded;
 * contents are fetched to this machine when needed.
 */
import { done, type Result } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import type { RecordStore } from "@metier/durable";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { HomeSkills } from "../shared/home-skills.ts";
import { openPins } from "../shared/pin-skills.ts";
import { openPublisher } from "../shared/published-skills.ts";
import { openGifts, type ShelfGifts } from "./give-skills.ts";
import { type FoundUpload, lookAt } from "./look-at-archive.ts";
import type { SkillContents } from "./skill-contents.ts";
import type { ServedSkill, ServedVersion, SkillAtHand, SkillShelf, UploadedSkill } from "./skill-shelf.ts";
import {
  addStored,
  grantStored,
  listUploaded,
  readVersions,
  rememberSnapshot,
  removeStored,
  type StoredVersion,
} from "./stored-versions.ts";

interface ShelfParts {
  readonly records: RecordStore;
  readonly contents: SkillContents;
  /** The machine's own skills. An upload with the same name doesn't replace one. */
  readonly home: HomeSkills;
  /** Whether runs can also continue on machines with other homes. */
  readonly isShared: boolean;
  readonly now: () => number;
}

interface OpenedParts extends ShelfParts {
  readonly gifts: ShelfGifts;
}

export function openSkillShelf(given: ShelfParts): SkillShelf {
  const { records, contents, home } = given;
  const publisher = openPublisher(given);
  const gifts = openGifts({ records, home, publisher });
  const parts: OpenedParts = { ...given, gifts };
  const list = (tenant: string): Promise<readonly ServedSkill[]> => listSkills(parts, tenant);
  const open: SkillShelf["open"] = (tenant, name, digest) => openVersion(parts, tenant, name, digest);
  return {
    list,
    open,
    versions: async (tenant, name) => (await readVersions(records, tenant, name)).map(toServed),
    async upload(tenant, archive, by, named) {
      const room = contents.makeRoom();
      try {
        const found = await lookAt(archive, room);
        const isOther = found.ok && named !== undefined && found.value.skill.name !== named;
        return isOther ? refuseOther(found.value.skill.name, named) : await takeIn(parts, tenant, by, found);
      } finally {
        contents.removeRoom(room);
      }
    },
    async grant(tenant, name, digest, by) {
      const granted = await grantStored(records, tenant, name, digest, by);
      return granted && toServed(granted);
    },
    async remove(tenant, name, digest, by) {
      const wasThere = await removeStored(records, tenant, name, digest, by);
      if (wasThere) contents.remove({ tenant, name, digest });
      return wasThere;
    },
    given: gifts.list,
    async give(tenant, name, by) {
      const isUploaded = (await readVersions(records, tenant, name)).length > 0;
      return isUploaded ? refuseUploaded(name) : gifts.give(tenant, name, by);
    },
    takeBack: gifts.takeBack,
    ...openPins({ ...parts, publisher, list, open }),
    forget: contents.forget,
  };
}

async function listSkills(parts: OpenedParts, tenant: string): Promise<readonly ServedSkill[]> {
  const { records } = parts;
  const own = await listOwn(parts, tenant);
  const taken = new Set(own.map(({ name }) => name));
  const names = (await listUploaded(records, tenant)).filter((name) => !taken.has(name));
  const uploaded = await Promise.all(
    names.map(async (name) => summarize(name, await readVersions(records, tenant, name))),
  );
  return [...own, ...uploaded.flat()].sort((a, b) => compareText(a.name, b.name));
}

/** The server's skills: all of them for the tenant `default`, and for others those they were given. */
async function listOwn({ home, gifts }: OpenedParts, tenant: string): Promise<readonly ServedSkill[]> {
  if (tenant === DEFAULT_TENANT) {
    const skills = (await home.list()).filter(({ isForUsers }) => isForUsers);
    return skills.map(({ name, description, trust }) => ({ name, description, trust, source: "server" }));
  }
  const skills = await gifts.list(tenant);
  return skills.map(({ name, description, trust, digest }) => {
    return { name, description, trust, source: "server", current: digest };
  });
}

async function openVersion(
  { records, contents }: OpenedParts,
  tenant: string,
  name: string,
  digest: string,
): Promise<Result<SkillAtHand | undefined>> {
  const version = (await readVersions(records, tenant, name)).find((other) => other.digest === digest);
  if (version === undefined) return done(undefined);
  const { snapshot, trust } = version;
  const opened = await contents.open({ tenant, name, digest, snapshot });
  if (!opened.ok) return opened;
  if (snapshot === undefined) {
    // An older version kept it only here. If storage has no room for it, it stays only here.
    const stored = await contents.store({ tenant, name, digest });
    if (stored.ok) await rememberSnapshot(records, tenant, name, { digest, snapshot: stored.value });
  }
  return done({ name, digest, path: opened.value, isTrusted: trust === "trusted" });
}

/** Stores the content first and its record last, so a recorded version always has its content. */
async function takeIn(
  parts: OpenedParts,
  tenant: string,
  by: string,
  found: Result<FoundUpload, HttpRefusal>,
): Promise<Result<UploadedSkill, HttpRefusal>> {
  if (!found.ok) return found;
  const { skill, remarks } = found.value;
  const { name, digest, description, files } = skill;
  if ((await listOwn(parts, tenant)).some((own) => own.name === name)) return refuseTaken(name);
  const snapshot = await parts.contents.takeIn({ tenant, name, digest }, skill.directory);
  if (!snapshot.ok) return refuseStorage(snapshot.refusal.isFull);
  const stored = await addStored(parts.records, tenant, name, {
    digest,
    description,
    trust: "untrusted",
    uploadedAt: parts.now(),
    uploadedBy: by,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    snapshot: snapshot.value,
  });
  return done({ name, version: toServed(stored), remarks });
}

/** New runs get the newest granted version, or if none is granted, the newest. */
function summarize(name: string, versions: readonly StoredVersion[]): readonly ServedSkill[] {
  const current = versions.find(({ trust }) => trust === "trusted") ?? versions[0];
  if (current === undefined) return [];
  const { description, trust, digest } = current;
  return [{ name, description, trust, source: "upload", current: digest }];
}

function toServed({ description: _, snapshot: __, ...version }: StoredVersion): ServedVersion {
  return version;
}

function refuseOther(name: string, named: string): Result<never, HttpRefusal> {
  const message = `The uploaded skill is called \`${name}\`, not \`${named}\`.`;
  return refuse(
    422,
    "other_skill",
    message,
    "Upload it as a skill of its own, or change the name in its `SKILL.md`.",
  );
}

function refuseTaken(name: string): Result<never, HttpRefusal> {
  return refuse(
    409,
    "skill_taken",
    `The server already has a skill called \`${name}\`.`,
    "Rename the uploaded skill in its `SKILL.md`.",
  );
}

function refuseUploaded(name: string): Result<never, HttpRefusal> {
  const message = `The tenant already uploaded a skill called \`${name}\`.`;
  return refuse(409, "skill_taken", message, "Remove its versions first, or give another skill.");
}

function refuseStorage(isFull: true | undefined): Result<never, HttpRefusal> {
  if (isFull) {
    const hint =
      "Remove versions and runs you do not need, or ask an admin of the whole service for more storage.";
    return refuse(413, "storage_full", "The tenant has used up its storage quota.", hint);
  }
  return refuse(
    422,
    "archive_refused",
    "The skill cannot be stored.",
    "Check its files and their permissions.",
  );
}

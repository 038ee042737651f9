/**
 * Uploaded skills in a folder: an archive is unpacked beside it by the strict readers of `@metier/install`, looked at, and
 * moved to `<tenant>/<name>/<digest>` in one step. The record that makes a version known comes last.
 */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { flushFolder, folderName, makeOwnedName, removeAbandoned, tryToRemove } from "@metier/base/files";
import { done, type Result } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import type { RecordStore } from "@metier/durable";
import {
  findSourceSkills,
  RefusedTree,
  SOURCE_LIMITS,
  type SourceLimits,
  unpackArchive,
} from "@metier/install";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { ServedSkill, ServedVersion, SkillShelf, UploadedSkill } from "./skill-shelf.ts";
import {
  addStored,
  grantStored,
  listUploaded,
  readVersions,
  removeStored,
  type StoredVersion,
} from "./stored-versions.ts";

interface FolderShelfParts {
  /** Made when it is missing. */
  readonly folder: string;
  readonly records: RecordStore;
  /** What the machine itself has. An upload of the same name does not replace it. */
  listOwn(): Promise<readonly Pick<ServedSkill, "name" | "description" | "trust">[]>;
  now(): number;
}

const LIMITS: SourceLimits = {
  ...SOURCE_LIMITS,
  files: 2_000,
  bytes: 64 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
};
const QUARANTINE = ".quarantine";

export function openFolderShelf(parts: FolderShelfParts): SkillShelf {
  const { folder, records, listOwn } = parts;
  const quarantine = join(folder, QUARANTINE);
  mkdirSync(quarantine, { recursive: true, mode: 0o700 });
  removeAbandoned(quarantine); // What a process that was killed had begun to unpack.
  return {
    async list(tenant) {
      const own = (await listOwn()).map((skill): ServedSkill => ({ ...skill, source: "server" }));
      const taken = new Set(own.map(({ name }) => name));
      const names = (await listUploaded(records, tenant)).filter((name) => !taken.has(name));
      const uploaded = await Promise.all(
        names.map(async (name) => summarize(name, await readVersions(records, tenant, name))),
      );
      return [...own, ...uploaded.flat()].sort((a, b) => compareText(a.name, b.name));
    },
    versions: async (tenant, name) => (await readVersions(records, tenant, name)).map(toServed),
    async upload(tenant, archive, by) {
      const into = join(quarantine, makeOwnedName());
      mkdirSync(into, { mode: 0o700 });
      try {
        return await takeIn(parts, tenant, by, await lookAt(archive, into));
      } finally {
        tryToRemove(into);
      }
    },
    async grant(tenant, name, digest, by) {
      const granted = await grantStored(records, tenant, name, digest, by);
      return granted && toServed(granted);
    },
    async remove(tenant, name, digest, by) {
      const wasThere = await removeStored(records, tenant, name, digest, by);
      if (wasThere) tryToRemove(placeOf(folder, tenant, name, digest));
      return wasThere;
    },
    async folder(tenant, name, digest) {
      const versions = await readVersions(records, tenant, name);
      const path = placeOf(folder, tenant, name, digest);
      const isKnown = versions.some((version) => version.digest === digest);
      return isKnown && statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined;
    },
  };
}

function placeOf(folder: string, tenant: string, name: string, digest: string): string {
  return join(folder, folderName(tenant), folderName(name), folderName(digest.replace(":", "-")));
}

/** The folder first, its record last: a version that is known is there. */
async function takeIn(
  { folder, records, listOwn, now }: FolderShelfParts,
  tenant: string,
  by: string,
  found: Result<FoundUpload, HttpRefusal>,
): Promise<Result<UploadedSkill, HttpRefusal>> {
  if (!found.ok) return found;
  const { skill, remarks } = found.value;
  const { name, digest, description, files } = skill;
  if ((await listOwn()).some((own) => own.name === name)) return refuseTaken(name);
  moveOnce(skill.directory, placeOf(folder, tenant, name, digest));
  const stored = await addStored(records, tenant, name, {
    digest,
    description,
    trust: "untrusted",
    uploadedAt: now(),
    uploadedBy: by,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
  });
  return done({ name, version: toServed(stored), remarks });
}

type FoundSkill = Awaited<ReturnType<typeof findSourceSkills>>["skills"][number];

interface FoundUpload extends Pick<UploadedSkill, "remarks"> {
  readonly skill: FoundSkill;
}

/** Exactly one sound skill, at the top of the archive or in its only folder. */
async function lookAt(archive: Buffer, into: string): Promise<Result<FoundUpload, HttpRefusal>> {
  const unpacked = await unpackArchive(archive, into, { limits: LIMITS }).catch((fault: unknown) => {
    if (fault instanceof RefusedTree) return fault;
    throw fault;
  });
  if (unpacked instanceof RefusedTree) {
    const status = unpacked.code === "source.limited" ? 413 : 422;
    return refuse(
      status,
      "archive_refused",
      unpacked.message,
      "Upload one skill folder as a plain zip or tar.gz.",
    );
  }
  const { skills } = await findSourceSkills({ folder: unpacked.folder }, "standard");
  const [skill, ...others] = skills;
  if (skill === undefined || others.length > 0) {
    const message = `The archive holds ${skills.length} skills; an upload holds one.`;
    return refuse(422, "no_skill", message, "Pack one folder with a `SKILL.md` in it.");
  }
  const plain = (text: string): string => text.replaceAll(into, "");
  const errors = skill.diagnostics.filter(({ severity }) => severity === "error");
  if (!skill.valid) {
    const why = errors.map(({ message }) => plain(message)).slice(0, 5);
    return refuse(
      422,
      "skill_invalid",
      `The skill cannot be used. ${why.join(" ")}`,
      "Run `metier validate` on it.",
    );
  }
  const remarks = [...unpacked.diagnostics, ...skill.diagnostics].map(({ message }) => plain(message));
  return done({ skill, remarks });
}

/** The same content may have come before, also half a second ago: the folder that is there is as good. */
function moveOnce(from: string, target: string): void {
  const parent = join(target, "..");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (statSync(target, { throwIfNoEntry: false })) return;
  renameSync(from, target);
  flushFolder(parent);
}

/** New runs get the newest version that was granted, or else the newest of all. */
function summarize(name: string, versions: readonly StoredVersion[]): readonly ServedSkill[] {
  const current = versions.find(({ trust }) => trust === "trusted") ?? versions[0];
  if (current === undefined) return [];
  const { description, trust, digest } = current;
  return [{ name, description, trust, source: "upload", current: digest }];
}

function toServed({ description: _, ...version }: StoredVersion): ServedVersion {
  return version;
}

function refuseTaken(name: string): Result<never, HttpRefusal> {
  return refuse(
    409,
    "skill_taken",
    `The server itself has a skill called \`${name}\`.`,
    "Give the uploaded skill another name in its `SKILL.md`.",
  );
}

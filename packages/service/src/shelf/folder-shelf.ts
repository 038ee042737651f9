/**
 * Uploaded skills in a folder: an archive is unpacked beside it by the strict readers of `@metier/install`, looked at, and
 * moved to `<tenant>/<name>/<digest>` in one step. The record that makes a version known comes last.
 */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { flushFolder, folderName, makeOwnedName, removeAbandoned, tryToRemove } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, countShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import type { RecordStore, StoredRecord } from "@metier/durable";
import {
  findSourceSkills,
  RefusedTree,
  SOURCE_LIMITS,
  type SourceLimits,
  unpackArchive,
} from "@metier/install";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { ServedSkill, ServedVersion, SkillShelf, UploadedSkill } from "./skill-shelf.ts";

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
const KIND = "skill";
const QUARANTINE = ".quarantine";

interface VersionBody extends ServedVersion {
  readonly description: string;
}

const versionShape = recordShape<VersionBody>(
  {
    digest: textShape,
    description: textShape,
    trust: choiceShape("trusted", "untrusted"),
    uploadedAt: countShape,
    uploadedBy: textShape,
    grantedBy: textShape,
    files: countShape,
    bytes: countShape,
  },
  ["grantedBy"],
);

export function openFolderShelf({ folder, records, listOwn, now }: FolderShelfParts): SkillShelf {
  const quarantine = join(folder, QUARANTINE);
  mkdirSync(quarantine, { recursive: true, mode: 0o700 });
  removeAbandoned(quarantine); // What a process that was killed had begun to unpack.
  const place = (tenant: string, name: string, digest: string): string =>
    join(folder, folderName(tenant), folderName(name), folderName(digest.replace(":", "-")));
  const read = async (tenant: string, name: string): Promise<readonly VersionBody[]> => {
    const stored = await records.list({ tenant, kind: versionKind(name), limit: 1000 });
    return stored
      .flatMap(readVersion)
      .sort((a, b) => b.uploadedAt - a.uploadedAt || compareText(a.digest, b.digest));
  };
  return {
    async list(tenant) {
      const own = (await listOwn()).map((skill): ServedSkill => ({ ...skill, source: "server" }));
      const taken = new Set(own.map(({ name }) => name));
      const names = await records.list({ tenant, kind: KIND, limit: 10_000 });
      const uploaded = await Promise.all(
        names.map(({ id }) => read(tenant, id).then((all) => summarize(id, all))),
      );
      const others = uploaded.flat().filter(({ name }) => !taken.has(name));
      return [...own, ...others].sort((a, b) => compareText(a.name, b.name));
    },
    versions: (tenant, name) => read(tenant, name).then((all) => all.map(withoutDescription)),
    async upload(tenant, archive, by) {
      const into = join(quarantine, makeOwnedName());
      mkdirSync(into, { mode: 0o700 });
      try {
        const found = await lookAt(archive, into);
        if (!found.ok) return found;
        const { skill } = found.value;
        if ((await listOwn()).some(({ name }) => name === skill.name)) return refuseTaken(skill.name);
        const target = place(tenant, skill.name, skill.digest);
        moveOnce(skill.directory, target);
        const body: VersionBody = {
          digest: skill.digest,
          description: skill.description,
          trust: "untrusted",
          uploadedAt: now(),
          uploadedBy: by,
          files: skill.files.length,
          bytes: skill.files.reduce((sum, { size }) => sum + size, 0),
        };
        await records.put({ tenant, kind: KIND, id: skill.name }, {}, 0);
        const key = { tenant, kind: versionKind(skill.name), id: skill.digest };
        const stored = await records.put(key, presentFields({ ...body }), 0);
        const there = stored
          ? body
          : ((await read(tenant, skill.name)).find(({ digest }) => digest === skill.digest) ?? body);
        const { remarks } = found.value;
        return done({
          name: skill.name,
          version: withoutDescription(there),
          isNew: stored !== undefined,
          remarks,
        });
      } finally {
        tryToRemove(into);
      }
    },
    async grant(tenant, name, digest, by) {
      const key = { tenant, kind: versionKind(name), id: digest };
      for (;;) {
        const stored = await records.get(key);
        const body = stored && fitShape(versionShape, stored.body);
        if (stored === undefined || body === undefined) return undefined;
        const granted: VersionBody = { ...body, trust: "trusted", grantedBy: body.grantedBy ?? by };
        if (await records.put(key, presentFields({ ...granted }), stored.revision))
          return withoutDescription(granted);
      }
    },
    async remove(tenant, name, digest) {
      const wasThere = await records.delete({ tenant, kind: versionKind(name), id: digest });
      if (!wasThere) return false;
      tryToRemove(place(tenant, name, digest));
      if ((await read(tenant, name)).length === 0) await records.delete({ tenant, kind: KIND, id: name });
      return true;
    },
    async folder(tenant, name, digest) {
      const isKnown = (await read(tenant, name)).some((version) => version.digest === digest);
      const path = place(tenant, name, digest);
      return isKnown && statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined;
    },
  };
}

type FoundSkill = Awaited<ReturnType<typeof findSourceSkills>>["skills"][number];

/** Exactly one sound skill, at the top of the archive or in its only folder. */
async function lookAt(
  archive: Buffer,
  into: string,
): Promise<Result<{ readonly skill: FoundSkill } & Pick<UploadedSkill, "remarks">, HttpRefusal>> {
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
function summarize(name: string, versions: readonly VersionBody[]): readonly ServedSkill[] {
  const current = versions.find(({ trust }) => trust === "trusted") ?? versions[0];
  if (current === undefined) return [];
  const { description, trust, digest } = current;
  return [{ name, description, trust, source: "upload", current: digest }];
}

function readVersion({ body }: StoredRecord): readonly VersionBody[] {
  const version = fitShape(versionShape, body);
  return version === undefined ? [] : [version];
}

function withoutDescription({ description: _, ...version }: VersionBody): ServedVersion {
  return version;
}

function versionKind(name: string): string {
  return `skill-version/${name}`;
}

function refuseTaken(name: string): Result<never, HttpRefusal> {
  return refuse(
    409,
    "skill_taken",
    `The server itself has a skill called \`${name}\`.`,
    "Give the uploaded skill another name in its `SKILL.md`.",
  );
}

/** Checks an uploaded archive: unpacked by the strict readers of `@metier/install`, with exactly one valid skill. */
import { done, type Result } from "@metier/base/result";
import {
  findSourceSkills,
  RefusedTree,
  SOURCE_LIMITS,
  type SourceLimits,
  unpackArchive,
} from "@metier/install";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { UploadedSkill } from "./skill-shelf.ts";

const LIMITS: SourceLimits = {
  ...SOURCE_LIMITS,
  files: 2_000,
  bytes: 64 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
};

type FoundSkill = Awaited<ReturnType<typeof findSourceSkills>>["skills"][number];

export interface FoundUpload extends Pick<UploadedSkill, "remarks"> {
  readonly skill: FoundSkill;
}

/** Exactly one valid skill, at the top of the archive or in its only folder. */
export async function lookAt(archive: Buffer, into: string): Promise<Result<FoundUpload, HttpRefusal>> {
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
    const message = `The archive has ${skills.length} skills, but an upload must have one.`;
    return refuse(422, "no_skill", message, "Pack one folder that contains a `SKILL.md`.");
  }
  const plain = (text: string): string => text.replaceAll(into, "");
  const errors = skill.diagnostics.filter(({ severity }) => severity === "error");
  if (!skill.valid) {
    const why = errors.map(({ message }) => plain(message)).slice(0, 5);
    return refuse(
      422,
      "skill_invalid",
      `The skill cannot be used. ${why.join(" ")}`,
      "Check it with `metier validate`.",
    );
  }
  const remarks = [...unpacked.diagnostics, ...skill.diagnostics].map(({ message }) => plain(message));
  return done({ skill, remarks });
}

/** What is downloaded for one skill: its only file as it is, or an archive; named by its digest, so that it never changes. */

import { digestBytes } from "../../trust/identify-file.ts";
import { writeGzip } from "../archive/write-gzip.ts";
import { writeTar } from "../archive/write-tar.ts";
import type { PreparedSkill } from "../prepare-skills.ts";
import { readStaged, SKILL_FILE } from "../stage-skill.ts";

export interface Artifact {
  readonly type: "skill-md" | "archive";
  /** Its file, beside the index. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** `sha256:…` of the bytes. */
  readonly digest: string;
}

const MARK_LENGTH = 16;
/** The files that this makes: a skill's name, a part of the digest, an ending. */
export const ARTIFACT_FILE: RegExp = /^[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{16}\.(?:md|tar\.gz)$/;

export function buildArtifact({ name, folder }: PreparedSkill): Artifact {
  const entries = readStaged(folder);
  const [only, ...others] = entries;
  // A lone file that may be executed needs the archive, which alone can say so.
  if (only?.kind === "file" && only.path === SKILL_FILE && !only.executable && others.length === 0) {
    return describe("skill-md", name, only.bytes);
  }
  return describe("archive", name, writeGzip(writeTar(entries)));
}

function describe(type: Artifact["type"], name: string, bytes: Uint8Array): Artifact {
  const digest = digestBytes(bytes);
  const mark = digest.slice("sha256:".length).slice(0, MARK_LENGTH);
  return { type, file: `${name}-${mark}.${type === "archive" ? "tar.gz" : "md"}`, bytes, digest };
}

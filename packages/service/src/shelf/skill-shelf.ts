/** The skills of the service: those that the server has, and versions that were uploaded, each under its content identity. */
import type { Result } from "@metier/base/result";
import type { HttpRefusal } from "../http/refusal.ts";

export interface ServedVersion {
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** `untrusted` until somebody grants exactly this content. */
  readonly trust: "trusted" | "untrusted";
  readonly uploadedAt: number;
  readonly uploadedBy: string;
  readonly grantedBy?: string | undefined;
  readonly files: number;
  readonly bytes: number;
}

export interface ServedSkill {
  readonly name: string;
  readonly description: string;
  /** `server`: from the catalog of the machine. `upload`: over the API. */
  readonly source: "server" | "upload";
  readonly trust: "trusted" | "untrusted";
  /** Of an upload: the version that new runs get. */
  readonly current?: string | undefined;
}

/** `by`: the key that asks, for the audit log, in which each change has a line. */
export interface SkillShelf {
  list(tenant: string): Promise<readonly ServedSkill[]>;
  /** Newest first; none for a skill that was not uploaded. */
  versions(tenant: string, name: string): Promise<readonly ServedVersion[]>;
  /** The same content again is the same version. */
  upload(tenant: string, archive: Buffer, by: string): Promise<Result<UploadedSkill, HttpRefusal>>;
  /** `undefined`: there is no such version. */
  grant(tenant: string, name: string, digest: string, by: string): Promise<ServedVersion | undefined>;
  /** Whether there was one. Runs that wait on it are not resumed. */
  remove(tenant: string, name: string, digest: string, by: string): Promise<boolean>;
  /** Where a version lies, for the worker. */
  folder(tenant: string, name: string, digest: string): Promise<string | undefined>;
}

export interface UploadedSkill {
  readonly name: string;
  readonly version: ServedVersion;
  /** What is worth knowing about it, none of it an error. */
  readonly remarks: readonly string[];
}

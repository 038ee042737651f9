/**
 * The skills of the service: those that the server has, those of them that other tenants were given, and versions that were
 * uploaded, each under its content identity.
 */
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
  /** `server`: from the catalog of a machine; other tenants than `default` were given it. `upload`: over the API. */
  readonly source: "server" | "upload";
  readonly trust: "trusted" | "untrusted";
  /** Of an upload, and of a skill that was given: the content that new runs get. */
  readonly current?: string | undefined;
}

/** A skill of the server that a tenant was given. */
export interface ServedGift {
  readonly name: string;
  readonly description: string;
  readonly trust: "trusted" | "untrusted";
  /** What new runs of it get now. */
  readonly digest: string;
  readonly givenAt: number;
}

/** A skill on this machine, with exactly the content that it is said to have. */
export interface SkillAtHand {
  readonly name: string;
  readonly digest: string;
  /** Its folder; of a flat skill, its file. */
  readonly path: string;
  readonly isTrusted: boolean;
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
  /**
   * A version on this machine, fetched when it is not here yet. `undefined`: there is no such version. Refused: what is there
   * is another content, or it is nowhere any more.
   */
  open(tenant: string, name: string, digest: string): Promise<Result<SkillAtHand | undefined>>;
  /** Skills of the server that a tenant was given. */
  given(tenant: string): Promise<readonly ServedGift[]>;
  /** Again: with the content that it has now. */
  give(tenant: string, name: string, by: string): Promise<Result<ServedGift, HttpRefusal>>;
  /** Whether there was one. Runs that wait on it are not resumed. */
  takeBack(tenant: string, name: string, by: string): Promise<boolean>;
  /**
   * What a new run may use, wherever it goes on: kept under the name that is given. `skill` absent: a turn of a conversation.
   * `undefined`: nothing has to be kept, because it is an upload, or because this machine is the only one. `listed`: what
   * `list` has just said, where somebody has asked.
   */
  pin(
    tenant: string,
    skill: string | undefined,
    listed?: readonly ServedSkill[],
  ): Promise<Result<string | undefined, HttpRefusal>>;
  /** What was pinned and still may be used, on this machine. Refused: a content of it is another one, or is nowhere. */
  openPinned(tenant: string, pin: string): Promise<Result<readonly SkillAtHand[]>>;
  /** All that this machine holds of a tenant. What is stored elsewhere is not touched. */
  forget(tenant: string): void;
}

export interface UploadedSkill {
  readonly name: string;
  readonly version: ServedVersion;
  /** What is worth knowing about it, none of it an error. */
  readonly remarks: readonly string[];
}

/**
 * The service's skills: the server's, those given to other tenants, and uploaded versions, each by content identity.
 */
import type { Result } from "@metier/base/result";
import type { HttpRefusal } from "../http/refusal.ts";

export interface ServedVersion {
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** `untrusted` until someone grants exactly this content. */
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
  /**
   * `server`: from a machine's catalog; tenants other than `default` were given it. `upload`: uploaded over the API.
   */
  readonly source: "server" | "upload";
  readonly trust: "trusted" | "untrusted";
  /** For uploaded and given skills: the content that new runs get. */
  readonly current?: string | undefined;
}

/** A skill of the server that a tenant was given. */
export interface ServedGift {
  readonly name: string;
  readonly description: string;
  readonly trust: "trusted" | "untrusted";
  /** The content that new runs get now. */
  readonly digest: string;
  readonly givenAt: number;
}

/** A skill on this machine, verified to have exactly the content of its identity. */
export interface SkillAtHand {
  readonly name: string;
  readonly digest: string;
  /** Its folder; for a flat skill, its file. */
  readonly path: string;
  readonly isTrusted: boolean;
}

/** `by`: the requesting key, for the audit log. Every change writes an audit line. */
export interface SkillShelf {
  list(tenant: string): Promise<readonly ServedSkill[]>;
  /** Newest first; empty for a skill that wasn't uploaded. */
  versions(tenant: string, name: string): Promise<readonly ServedVersion[]>;
  /** Uploading the same content again gives the same version. `named`: refused if the skill has another name. */
  upload(
    tenant: string,
    archive: Buffer,
    by: string,
    named?: string,
  ): Promise<Result<UploadedSkill, HttpRefusal>>;
  /** `undefined`: there is no such version. */
  grant(tenant: string, name: string, digest: string, by: string): Promise<ServedVersion | undefined>;
  /** Returns whether there was one. Runs waiting on it don't resume. */
  remove(tenant: string, name: string, digest: string, by: string): Promise<boolean>;
  /**
   * A version on this machine, fetched if necessary. `undefined`: there is no such version. Refused if its content
   * doesn't match, or isn't stored anywhere anymore.
   */
  open(tenant: string, name: string, digest: string): Promise<Result<SkillAtHand | undefined>>;
  /** The server's skills that a tenant was given. */
  given(tenant: string): Promise<readonly ServedGift[]>;
  /** Giving a skill again updates its content. */
  give(tenant: string, name: string, by: string): Promise<Result<ServedGift, HttpRefusal>>;
  /** Returns whether there was one. Runs waiting on it don't resume. */
  takeBack(tenant: string, name: string, by: string): Promise<boolean>;
  /**
   * Stores which skills a new run may use, wherever it continues, and returns the name to find them by. Without
   * `skill`: for a conversation turn. `undefined`: nothing needs storing, because it is an upload or this machine is
   * the only one. `listed`: the result of `list`, if the caller already has it.
   */
  pin(
    tenant: string,
    skill: string | undefined,
    listed?: readonly ServedSkill[],
  ): Promise<Result<string | undefined, HttpRefusal>>;
  /**
   * The pinned skills that may still be used, on this machine. Refused if a content doesn't match, or isn't stored
   * anywhere.
   */
  openPinned(tenant: string, pin: string): Promise<Result<readonly SkillAtHand[]>>;
  /** Removes everything that this machine has of a tenant, but nothing that is stored elsewhere. */
  forget(tenant: string): void;
}

export interface UploadedSkill {
  readonly name: string;
  readonly version: ServedVersion;
  /** Remarks worth reading; none is an error. */
  readonly remarks: readonly string[];
}

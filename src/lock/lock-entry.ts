/** What a lock says of each installed skill: where it came from, and which content it is, byte for byte. */

export const SOURCE_KINDS = ["git", "folder", "archive", "file", "npm", "well-known"] as const;

export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface LockEntry {
  /** Of the manifest; the folder in the store bears it. */
  readonly name: string;
  /** What the catalog calls it instead. */
  readonly alias?: string;
  /** The canonical address that `install` takes again, in a project's lock from the project's root; without secrets. */
  readonly source: string;
  readonly kind: SourceKind;
  /** As asked: branch, tag, commit, version or range. */
  readonly ref?: string;
  /**
   * Commit id, version and integrity, or the digest of the download. Of a folder its real path; a project's lock names
   * a folder of the project from the project's root, with `/`.
   */
  readonly resolved: string;
  /** Of the skill inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** A local folder that is used in place. */
  readonly linked?: true;
  /** The project's own copy, in `.metier/skills`. */
  readonly copied?: true;
  /** Name of the user on the machine it was installed on. */
  readonly installedBy: string;
  /** ISO, UTC. */
  readonly installedAt: string;
  readonly updatedAt?: string;
  /** Where else it was put, for other clients. */
  readonly placed?: readonly PlacedCopy[];
  /** What a rollback goes back to. */
  readonly previous?: PreviousVersion;
}

export interface PlacedCopy {
  readonly client: string;
  /** Absolute in the user's lock; in a project's relative to the project, with `/`. */
  readonly path: string;
  readonly how: "link" | "copy";
}

export interface PreviousVersion {
  readonly digest: string;
  readonly resolved: string;
  readonly ref?: string;
  readonly updatedAt?: string;
}

export interface Lock {
  /** No two are called alike. */
  readonly skills: readonly LockEntry[];
}

export const EMPTY_LOCK: Lock = Object.freeze({ skills: Object.freeze([]) });

/** A user's lock may name any folder of the machine; a project's is untrusted input and stays in the project. */
export type LockOwner = "user" | "project";

/** What the catalog calls the skill. */
export function calledAs({ name, alias }: Pick<LockEntry, "name" | "alias">): string {
  return alias ?? name;
}

export function findEntry({ skills }: Lock, called: string): LockEntry | undefined {
  return skills.find((entry) => calledAs(entry) === called);
}

/** The lock with this entry, in place of one that is called the same. */
export function withEntry(lock: Lock, entry: LockEntry): Lock {
  return { skills: [...withoutEntry(lock, calledAs(entry)).skills, entry] };
}

/** The same lock when nothing in it is called that. */
export function withoutEntry(lock: Lock, called: string): Lock {
  const skills = lock.skills.filter((entry) => calledAs(entry) !== called);
  return skills.length === lock.skills.length ? lock : { skills };
}

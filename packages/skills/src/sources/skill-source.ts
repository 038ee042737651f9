/**
 * A program's own source: a database, a bucket, a service, anything that can list skills and read their files. Its
 * interface, and the check of it.
 */
import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import type { SourceOrigin } from "../skill/skill.ts";

/** What a source gets with every call. */
export interface SourceCall {
  /** Aborts when the source's time is up. */
  readonly signal: AbortSignal;
}

/** A file of a skill. `executable` sets the executable bit. */
export interface SourceFile {
  /** In the skill's folder, with `/` between segments: `references/guide.md`. */
  readonly path: string;
  /** Whether the file gets its executable bit. Default: `false`. */
  readonly executable?: boolean | undefined;
}

/** One skill of a source. */
export interface SourceEntry {
  /** The argument of `read`. Stable: the skill's data is stored under it. */
  readonly id: string;
  /** The name of the skill's folder, which the skill's own name must match. Default: the last segment of `id`. */
  readonly name?: string | undefined;
  /** Every file besides `SKILL.md`, which each skill has. Default: none. */
  readonly files?: readonly (string | SourceFile)[] | undefined;
  /**
   * Changes whenever a file changes: an ETag, a row version. While it stays the same, the skill is not read again.
   * Without it, every load reads everything.
   */
  readonly version?: string | undefined;
}

/**
 * Skills from anywhere. Its skills are read when skills are loaded (`createMetier`, `reload`, `discover`, a watch), and
 * are then like skills in a folder: with files, scripts, a content identity and a trust level. Whatever it does wrong is
 * a diagnostic.
 *
 * @example
 * ```ts
 * const database: SkillSource = {
 *   name: "database",
 *   list: async () => (await db.skills()).map(({ id, name, etag }) => ({ id, name, version: etag })),
 *   read: async (id, path) => (await db.file(id, path)).bytes,
 * };
 * const metier = await createMetier({ sources: [database] });
 * ```
 */
export interface SkillSource {
  /** Its name in messages: lowercase letters, digits and hyphens. */
  readonly name: string;
  /** Every skill that exists now. */
  list(call: SourceCall): readonly SourceEntry[] | Promise<readonly SourceEntry[]>;
  /** One file of a skill. A string is written as UTF-8. */
  read(id: string, path: string, call: SourceCall): SourceContent | Promise<SourceContent>;
  /** Starts watching; `onChange` may be called at any time. The returned function stops it. Used by `metier.watch`. */
  watch?(onChange: () => void): () => void;
  /**
   * `"trusted"`: the program vouches for every skill of the source (scope `integration`). Default: `"untrusted"` (scope
   * `custom`), as for a folder in `paths`.
   */
  readonly trust?: "trusted" | "untrusted" | undefined;
  /** How long `list` and all calls of `read` may take together. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** The content of a file. */
export type SourceContent = string | Uint8Array | ArrayBuffer;

const KEYS: OptionKeys<SkillSource> = {
  name: true,
  list: true,
  read: true,
  watch: true,
  trust: true,
  timeoutMs: true,
};

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** The source of skills that the program defines as objects with files. */
export const PROGRAM_SOURCE = "program";

/** Throws `UsageError` for an invalid source, which is a fault of the program. A custom class may have more members. */
export function checkSkillSources(sources: readonly unknown[]): void {
  const names = sources.map((source) => checkSource(source));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new UsageError(`Two sources are named \`${twice}\`.`, {
      hint: "Give one of them another `name`: messages and data folders use it.",
    });
  }
}

/** Its name. */
function checkSource(source: unknown): string {
  if (typeof source !== "object" || source === null) {
    throw new UsageError("A source in `sources` is not an object.", {
      hint: "It needs `name`, `list` and `read`.",
    });
  }
  if (Object.getPrototypeOf(source) === Object.prototype) checkKeys("sources", source, KEYS);
  const { name, list, read, watch, trust, timeoutMs } = source as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || !NAME.test(name) || name === PROGRAM_SOURCE) {
    const shown = typeof name === "string" ? showValue(name) : "missing, or not a string";
    throw new UsageError(`The \`name\` of a source is ${shown}.`, {
      hint: `Use \`a-z\`, \`0-9\` and hyphens, at most 64, such as \`database\`; not \`${PROGRAM_SOURCE}\`.`,
    });
  }
  const refuse = (what: string, allowed: string): UsageError =>
    new UsageError(`\`${what}\` of the source \`${name}\` is not valid.`, { hint: `It must be ${allowed}.` });
  if (typeof list !== "function") throw refuse("list", "a function that returns the entries");
  if (typeof read !== "function") throw refuse("read", "a function that returns the content of a file");
  if (watch !== undefined && typeof watch !== "function") throw refuse("watch", "a function, or absent");
  if (trust !== undefined && trust !== "trusted" && trust !== "untrusted") {
    throw refuse("trust", '`"trusted"` or `"untrusted"`');
  }
  const isTime = typeof timeoutMs === "number" && Number.isFinite(timeoutMs) && timeoutMs > 0;
  if (timeoutMs !== undefined && !isTime) throw refuse("timeoutMs", "a positive number of milliseconds");
  return name;
}

/** How messages and data folders name a source's skill. */
export function sourceAddress({ source, id }: Pick<SourceOrigin, "source" | "id">): string {
  return `source:${source}/${id}`;
}

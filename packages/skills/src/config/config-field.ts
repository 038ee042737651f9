/**
 * One row of the config table, and what ties the table to `Config`: `fieldsOf` takes a section of `Config` and requires
 * one row per property, whose type, default and tightening match the property's type. Below it, the ways of tightening.
 */
import { isInside, realPathOr } from "@metier/base/places";
import type { KebabCase } from "../skill/manifest.ts";
import type { ValueType, ValueTypeOf } from "./value-types.ts";

export interface ConfigField extends FieldTraits {
  /** Dotted, kebab-case; `<…>` stands for a name that the user chooses. */
  readonly path: string;
  readonly type: ValueType;
  readonly default?: unknown;
  /** How the policy combines it with the users' values. Absent: the policy cannot set it. */
  readonly tightening?: Tightening;
  /**
   * What a project file may do with it before it is granted. `tighten`: as `tightening` says; `ignore`: nothing;
   * `never`: nothing even if granted, because it is a credential, fetches one, or is the user's server.
   */
  readonly project: "tighten" | "ignore" | "never";
}

interface FieldTraits {
  readonly description: string;
  /** Other names for the last part of the path, kebab-case, from the systems behind the presets. */
  readonly aliases?: readonly string[];
  /** Shown as `••••`. A variable in a skill's environment says itself whether it is secret. */
  readonly secret?: true;
  /** The key whose value applies if this one is not set. */
  readonly inherits?: string;
  /** Keys whose policy also narrows this one. */
  readonly heldBy?: readonly string[];
}

/** The rows of one section of `Config`, in listing order. */
export function fieldsOf<Section>(parent: string, rows: Rows<Section>): readonly ConfigField[] {
  return Object.entries<Omit<ConfigField, "path" | "project">>({ ...rows }).map(([key, row]) => ({
    path: `${parent}.${key}`,
    project: row.tightening ? "tighten" : "ignore",
    ...row,
  }));
}

/** A row for every property, under its kebab-case name. A required property has a default. */
type Rows<Section> = {
  readonly [Key in keyof Section & string as KebabCase<Key>]-?: Row<NonNullable<Section[Key]>> &
    (IsOptional<Section, Key> extends true
      ? { readonly default?: never }
      : { readonly default: Section[Key] });
};

interface Row<Value> extends FieldTraits {
  readonly type: ValueTypeOf<Value>;
  readonly tightening?: TighteningOf<Value>;
  /** By default `tighten` if there is a `tightening`, else `ignore`. */
  readonly project?: "ignore" | "never";
}

/** Also for a table of names, all of which are optional. */
type IsOptional<Section, Key extends keyof Section> =
  Record<never, never> extends Pick<Section, Key> ? true : false;

/**
 * How to combine a value from an ungranted project file or the policy with the lower layers, so that the result is
 * never looser. Each way is one constant.
 */
interface Tightening {
  /** What the value may do, for messages and the reference page. */
  readonly how: string;
  /** Whether the value can make anything stricter at all. */
  canTighten(limit: unknown): boolean;
  /** The stricter of both. `strongest` decides if the two have nothing in common. */
  combine(lower: unknown, limit: unknown, strongest: "lower" | "limit"): unknown;
  /** Combining keeps the lower value instead of shrinking it, so no part of the value is ever refused. */
  readonly adds?: true;
  /** The list items that combining removes entirely, if each must be reported. */
  dropped?(lower: unknown, limit: unknown): readonly string[];
}

/** For values of type `Value`: what the table compares with `Config`. */
interface TighteningOf<in out Value> extends Tightening {
  canTighten(limit: Value): boolean;
  combine(lower: Value | undefined, limit: Value, strongest: "lower" | "limit"): Value | undefined;
  dropped?(lower: Value | undefined, limit: Value): Texts;
}

type Texts = readonly string[];

/** For keys that every value can make stricter. */
const always = (): boolean => true;

const NARROWED = { how: "may only be narrowed", canTighten: always };

/** Only one of the two values is strict; the other changes nothing. */
export function onlyTo(strict: boolean): TighteningOf<boolean> {
  return {
    how: `may only be set to \`${strict}\``,
    canTighten: (limit) => limit === strict,
    combine: (lower, limit) => (limit === strict ? strict : lower),
  };
}

export const UNION: TighteningOf<Texts> = {
  how: "may only be added to",
  canTighten: always,
  adds: true,
  combine: (lower = [], limit) => [...new Set([...lower, ...limit])],
};

export const SMALLER: TighteningOf<number> = {
  how: "may only be made smaller",
  canTighten: always,
  combine: (lower = Number.POSITIVE_INFINITY, limit) => Math.min(lower, limit),
};

/** A ranking, loosest first. */
export function stricterOf<const Choice extends string>(...ranking: readonly Choice[]): TighteningOf<Choice> {
  return {
    how: `may only move to the right in ${ranking.join(" < ")}`,
    canTighten: (limit) => limit !== ranking[0],
    combine: (lower, limit) =>
      lower !== undefined && ranking.indexOf(lower) >= ranking.indexOf(limit) ? lower : limit,
  };
}

/** Chat ids: an empty list means unrestricted, so lists without a common member cannot be intersected. */
export const COMMON_CHATS: TighteningOf<Texts> = {
  ...NARROWED,
  canTighten: (limit) => limit.length > 0,
  combine: (lower = [], limit, strongest) => {
    if (lower.length === 0) return limit;
    if (limit.length === 0) return lower;
    const common = lower.filter((id) => limit.includes(id));
    if (common.length > 0) return common;
    return strongest === "lower" ? lower : limit;
  },
};

/** Allow lists of globs are not merged: a skill must match each of them. */
export const FURTHER_LIST: TighteningOf<readonly Texts[]> = {
  ...NARROWED,
  adds: true,
  canTighten: (limit) => limit.length > 0,
  combine: (lower = [], limit) => [...lower, ...limit],
};

export const COMMON_DOMAINS: TighteningOf<Texts> = {
  ...NARROWED,
  combine: (lower = [], limit) => commonDomains(lower, limit),
};

/** The domains that both lists grant. */
export function commonDomains(a: readonly string[], b: readonly string[]): readonly string[] {
  return intersect(a, b, isDomainCovered);
}

/** What is in a folder of both lists; all paths are real. */
export function commonFolders(a: readonly string[], b: readonly string[]): readonly string[] {
  return intersect(a, b, isInside);
}

export const COMMON_NAMES: TighteningOf<Texts> = {
  ...NARROWED,
  combine: (lower = [], limit) => lower.filter((name) => limit.includes(name)),
};

/** By real path, so that a link inside an allowed folder does not lead out of it. */
export const COMMON_FOLDERS: TighteningOf<Texts> = {
  ...NARROWED,
  combine: (lower = [], limit) => commonFolders(lower.map(realPathOr), limit.map(realPathOr)),
  dropped: (lower = [], limit) =>
    lower.filter((path) => commonFolders([realPathOr(path)], limit.map(realPathOr)).length === 0),
};

/** The narrower one of each overlapping pair. */
function intersect(a: Texts, b: Texts, isCovered: (narrow: string, wide: string) => boolean): Texts {
  const common = a.flatMap((left) =>
    b.flatMap((right) => (isCovered(left, right) ? [left] : isCovered(right, left) ? [right] : [])),
  );
  return [...new Set(common)];
}

/** `*.example.com` covers the subdomains of `example.com`; `*` covers every host. Each only for its own port. */
function isDomainCovered(narrow: string, wide: string): boolean {
  const [inner, outer] = [splitPort(narrow), splitPort(wide)];
  if (inner.port !== outer.port) return false;
  if (inner.host === outer.host || outer.host === "*") return true;
  return outer.host.startsWith("*.") && inner.host.endsWith(outer.host.slice(1));
}

function splitPort(domain: string): { readonly host: string; readonly port: string } {
  const [port = ""] = /:\d+$/.exec(domain) ?? [];
  return { host: domain.slice(0, domain.length - port.length).toLowerCase(), port };
}

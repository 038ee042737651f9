/**
 * How a value of an ungranted project file or of the policy is combined with what stands below it, so that the
 * result is never looser. Each way is one constant; `config-fields.ts` says which key uses which.
 */
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";

export interface Tightening {
  /** What the value may do, as messages and the reference page say it. */
  readonly how: string;
  /** Whether the value can make anything stricter at all. */
  canTighten(limit: unknown): boolean;
  /** The stricter of both. `strongest` decides where the two have nothing in common. */
  combine(lower: unknown, limit: unknown, strongest: "lower" | "limit"): unknown;
  /** Combining keeps what stood below instead of shrinking it, so no part of the value is ever refused. */
  readonly adds?: true;
  /** The items of a list that combining takes away whole, where losing one must be said. */
  dropped?(lower: unknown, limit: unknown): readonly string[];
}

/** Types are checked by the value type before a value gets here; this is the one place that says so. */
function tightening<T>(parts: {
  readonly how: string;
  readonly canTighten?: (limit: T) => boolean;
  readonly combine: (lower: T | undefined, limit: T, strongest: "lower" | "limit") => T | undefined;
  readonly adds?: true;
  readonly dropped?: (lower: T | undefined, limit: T) => Texts;
}): Tightening {
  return { canTighten: () => true, ...parts } as unknown as Tightening;
}

type Texts = readonly string[];

/** Only one of the two values is strict; the other changes nothing. */
export function onlyTo(strict: boolean): Tightening {
  return tightening<boolean>({
    how: `may only be set to \`${strict}\``,
    canTighten: (limit) => limit === strict,
    combine: (lower, limit) => (limit === strict ? strict : lower),
  });
}

export const UNION: Tightening = tightening<Texts>({
  how: "may only be added to",
  adds: true,
  combine: (lower = [], limit) => [...new Set([...lower, ...limit])],
});

export const SMALLER: Tightening = tightening<number>({
  how: "may only be made smaller",
  combine: (lower = Number.POSITIVE_INFINITY, limit) => Math.min(lower, limit),
});

/** A ranking, loosest first. */
export function stricterOf(...ranking: Texts): Tightening {
  return tightening<string>({
    how: `may only move to the right in ${ranking.join(" < ")}`,
    canTighten: (limit) => limit !== ranking[0],
    combine: (lower, limit) =>
      lower !== undefined && ranking.indexOf(lower) >= ranking.indexOf(limit) ? lower : limit,
  });
}

/** Chat ids: an empty list means unrestricted, so lists without a common member cannot be intersected. */
export const COMMON_CHATS: Tightening = tightening<Texts>({
  how: "may only be narrowed",
  canTighten: (limit) => limit.length > 0,
  combine: (lower = [], limit, strongest) => {
    if (lower.length === 0) return limit;
    if (limit.length === 0) return lower;
    const common = lower.filter((id) => limit.includes(id));
    if (common.length > 0) return common;
    return strongest === "lower" ? lower : limit;
  },
});

/** Allow lists of globs are not merged: a skill must match each of them. */
export const FURTHER_LIST: Tightening = tightening<readonly Texts[]>({
  how: "may only be narrowed",
  adds: true,
  canTighten: (limit) => limit.length > 0,
  combine: (lower = [], limit) => [...lower, ...limit],
});

export const COMMON_DOMAINS: Tightening = tightening<Texts>({
  how: "may only be narrowed",
  combine: (lower = [], limit) => commonDomains(lower, limit),
});

/** The domains that both lists grant. */
export function commonDomains(a: readonly string[], b: readonly string[]): readonly string[] {
  return intersect(a, b, isDomainCovered);
}

/** What lies in a folder of both lists; all paths real. */
export function commonFolders(a: readonly string[], b: readonly string[]): readonly string[] {
  return intersect(a, b, isInside);
}

export const COMMON_NAMES: Tightening = tightening<Texts>({
  how: "may only be narrowed",
  combine: (lower = [], limit) => lower.filter((name) => limit.includes(name)),
});

/** By real path, so that a link below an allowed folder does not lead out of it. */
export const COMMON_FOLDERS: Tightening = tightening<Texts>({
  how: "may only be narrowed",
  combine: (lower = [], limit) => commonFolders(lower.map(realPathOr), limit.map(realPathOr)),
  dropped: (lower = [], limit) =>
    lower.filter((path) => commonFolders([realPathOr(path)], limit.map(realPathOr)).length === 0),
});

/** Of each pair that overlaps, the narrower one. */
function intersect(a: Texts, b: Texts, isCovered: (narrow: string, wide: string) => boolean): Texts {
  const common = a.flatMap((left) =>
    b.flatMap((right) => (isCovered(left, right) ? [left] : isCovered(right, left) ? [right] : [])),
  );
  return [...new Set(common)];
}

/** `*.example.com` covers what stands below `example.com`; `*` covers every host. Each for its own port alone. */
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

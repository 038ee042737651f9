/**
 * Which version of a package is meant: a version, a tag, or one of the simple ranges `^1.2`, `~1.2.3`, `1.x`, `1` and
 * `*`. Others are refused with what to write instead: whoever installs one skill needs no more.
 */
import { compareText } from "../../foundation/diagnostic.ts";

export interface KnownVersions {
  /** As `1.2.0` and `1.3.0-beta.1`. */
  readonly versions: readonly string[];
  /** `latest` and others, with the versions they stand for. */
  readonly tags: Readonly<Record<string, string>>;
}

export type VersionChoice =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly reason: "unsupported" | "none" };

interface Version {
  readonly text: string;
  readonly numbers: readonly [major: number, minor: number, patch: number];
  /** `["beta", "1"]`; empty for a release. */
  readonly preview: readonly string[];
}

type Test = (version: Version) => boolean;

const NUMBER = "(?:0|[1-9]\\d{0,14})";
const PREVIEW = "(?:-([0-9a-z.-]+))?(?:\\+[0-9a-z.-]+)?";
const VERSION = new RegExp(`^v?(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})${PREVIEW}$`, "i");
const PART = `(${NUMBER}|[x*])`;
const RANGE = new RegExp(`^([\\^~]?)v?${PART}(?:\\.${PART}(?:\\.${PART}${PREVIEW})?)?$`, "i");
const TAG = /^[a-z][a-z0-9._-]*$/i;

export function chooseVersion(asked: string, { versions, tags }: KnownVersions): VersionChoice {
  const tagged = Object.hasOwn(tags, asked) ? tags[asked] : undefined;
  if (tagged !== undefined) return isKnown(tagged, versions);
  const exact = readVersion(asked);
  if (exact !== undefined) return isKnown(exact.text, versions);
  const test = readRange(asked);
  if (test === undefined) return { ok: false, reason: TAG.test(asked) ? "none" : "unsupported" };
  const fitting = versions.flatMap((text) => readVersion(text) ?? []).filter(test);
  // As npm does: whoever publishes says by `latest` which one is ready.
  const ready = fitting.find(({ text }) => text === tags.latest);
  const best = ready ?? fitting.sort(compareVersions).at(-1);
  return best === undefined ? { ok: false, reason: "none" } : { ok: true, version: best.text };
}

function isKnown(version: string, versions: readonly string[]): VersionChoice {
  return versions.includes(version) ? { ok: true, version } : { ok: false, reason: "none" };
}

function readVersion(text: string): Version | undefined {
  const [matched, major, minor, patch, preview] = VERSION.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return {
    text: matched.replace(/^v/i, ""),
    numbers: [Number(major), Number(minor), Number(patch)],
    preview: preview === undefined ? [] : preview.split("."),
  };
}

/** `undefined` for what is none of the ranges. */
function readRange(text: string): Test | undefined {
  const [matched, sign, ...parts] = RANGE.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const given = parts
    .slice(0, 3)
    .map((part) => (part === undefined || /[x*]/i.test(part) ? undefined : Number(part)));
  const open = given.indexOf(undefined);
  const known = open === -1 ? given.length : open;
  const lowest = [given[0] ?? 0, (known > 1 && given[1]) || 0, (known > 2 && given[2]) || 0] as const;
  const from: Version = { text, numbers: lowest, preview: parts[3]?.split(".") ?? [] };
  const fixed = countFixed(sign === "^", sign === "~", known, lowest);
  return (version) =>
    version.numbers.every((number, index) => index >= fixed || number === from.numbers[index]) &&
    compareVersions(version, from) >= 0 &&
    (version.preview.length === 0 || isPreviewOf(version, from));
}

/** How many of the numbers must stay: for `^` all up to the first that is not zero, for `~` two, else all that are given. */
function countFixed(caret: boolean, tilde: boolean, known: number, numbers: Version["numbers"]): number {
  if (tilde) return Math.min(known, 2);
  if (!caret) return known;
  const first = numbers.findIndex((number) => number > 0);
  return Math.min(known, first === -1 ? 3 : first + 1);
}

/** A version that is not ready is meant only by a range that names one of the same numbers. */
function isPreviewOf({ numbers }: Version, from: Version): boolean {
  return from.preview.length > 0 && numbers.every((number, index) => number === from.numbers[index]);
}

function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.preview.length === 0 || b.preview.length === 0) return b.preview.length - a.preview.length;
  return comparePreviews(a.preview, b.preview);
}

/** Numbers by value and before words; the longer one comes later where all else is the same. */
function comparePreviews(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)];
    const difference =
      isNumber && isOtherNumber
        ? Number(part) - Number(other)
        : Number(isOtherNumber) - Number(isNumber) || compareText(part, other);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

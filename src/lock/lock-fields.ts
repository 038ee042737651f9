/** The keys of a lock: how each is written, and what may stand there. A lock may come from anyone who can commit. */
import { isAbsolute, resolve } from "node:path";
import { checkContainedPath } from "../host/contained-path.ts";
import { isSkillName, MAX_NAME_LENGTH } from "../skill/skill-name.ts";
import { type LockOwner, SOURCE_KINDS } from "./lock-entry.ts";

export interface LockField {
  readonly key: string;
  readonly property: string;
  /** Absent: it may be left out. */
  readonly needed?: true;
  /** For messages. */
  readonly allowed: string;
  accepts(value: unknown, owner: LockOwner): boolean;
}

const MAX_TEXT = 4_096;

/** One line that a person can read. */
function isLine(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_TEXT &&
    value.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)
  );
}

export function isLockName(value: unknown): value is string {
  return isLine(value) && isSkillName(value) && value === value.normalize("NFKC");
}

/** Relative, with `/`, and nothing in it that goes up. */
function isPathBelow(value: unknown): value is string {
  if (!isLine(value)) return false;
  const checked = checkContainedPath(value);
  return checked.ok && checked.path === value;
}

function isFullPath(value: unknown): value is string {
  return isLine(value) && isAbsolute(value) && resolve(value) === value;
}

/** A folder that a lock may name. */
export function isOwnersPath(value: unknown, owner: LockOwner): value is string {
  return owner === "project" ? isPathBelow(value) : isFullPath(value);
}

function isTime(value: unknown): boolean {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

const LINE = `a text of one line, of at most ${MAX_TEXT} characters`;
const NAME = `lower-case letters, digits and single hyphens, at most ${MAX_NAME_LENGTH}`;
const TIME = "a time such as `2026-01-31T12:00:00Z`";
const TRUE = "`true`, or no such key";
const DIGEST = "`sha256:` and 64 hexadecimal digits";

const text = (key: string): LockField => ({
  key,
  property: key,
  needed: true,
  allowed: LINE,
  accepts: isLine,
});
const perhaps = ({ needed: _, ...field }: LockField): LockField => field;
const flag = (key: string): LockField => ({
  key,
  property: key,
  allowed: TRUE,
  accepts: (value) => value === true,
});
const time = (key: string, property: string): LockField => ({
  key,
  property,
  allowed: TIME,
  accepts: isTime,
});

const digest: LockField = {
  key: "digest",
  property: "digest",
  needed: true,
  allowed: DIGEST,
  accepts: (value) => typeof value === "string" && /^sha256:[0-9a-f]{64}$/.test(value),
};

/** In the order in which they are written. */
export const ENTRY_FIELDS: readonly LockField[] = [
  { key: "name", property: "name", allowed: NAME, accepts: isLockName },
  text("source"),
  {
    key: "kind",
    property: "kind",
    needed: true,
    allowed: SOURCE_KINDS.map((kind) => `\`${kind}\``).join(", "),
    accepts: (value) => SOURCE_KINDS.some((kind) => kind === value),
  },
  perhaps(text("ref")),
  text("resolved"),
  {
    key: "path",
    property: "path",
    needed: true,
    allowed: 'a path inside the source, with `/`; `""` for its root',
    accepts: (value) => value === "" || isPathBelow(value),
  },
  digest,
  flag("linked"),
  flag("copied"),
  { ...text("installed-by"), property: "installedBy" },
  { ...time("installed-at", "installedAt"), needed: true },
  time("updated-at", "updatedAt"),
];

export const PLACED_FIELDS: readonly LockField[] = [
  {
    key: "client",
    property: "client",
    needed: true,
    allowed: "the name of a client, such as `claude-code`",
    accepts: (value) =>
      typeof value === "string" && /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(value) && value.length <= 64,
  },
  {
    key: "path",
    property: "path",
    needed: true,
    allowed: "in a project's lock a path inside the project, with `/`; in yours an absolute path",
    accepts: isOwnersPath,
  },
  {
    key: "how",
    property: "how",
    needed: true,
    allowed: "`link`, `copy`",
    accepts: (value) => value === "link" || value === "copy",
  },
];

export const PREVIOUS_FIELDS: readonly LockField[] = [
  digest,
  text("resolved"),
  perhaps(text("ref")),
  time("updated-at", "updatedAt"),
];

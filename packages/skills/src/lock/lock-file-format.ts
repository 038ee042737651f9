/**
 * A lock as text: TOML with one table per skill, sorted, one key per line, so that the same lock has the same bytes and
 * two branches that each add a skill merge. A lock that is not fully understood is not used at all.
 */
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { compareText, toCamelCase } from "@metier/base/text";
import { type ConfigDocument, ConfigSyntaxError } from "../config/formats/config-document.ts";
import { parseTomlDocument } from "../config/formats/toml-document.ts";
import { formatKeyPath } from "../config/show-config.ts";
import { isTable } from "../config/value-types.ts";
import {
  calledAs,
  ENTRY_FIELDS,
  isLockName,
  isOwnersPath,
  type Lock,
  type LockEntry,
  type LockField,
  type LockOwner,
  PLACED_FIELDS,
  type PlacedCopy,
  PREVIOUS_FIELDS,
  type PreviousVersion,
} from "./lock.ts";

const LOCK_VERSION = 1;

export const LOCK_LIMITS = { bytes: 4 * 1024 * 1024, skills: 5_000, placed: 200 } as const;

interface LockRefusal {
  readonly message: string;
  readonly hint: string;
  readonly line?: number | undefined;
}

const HEADER = `# Made by metier; commit it. \`metier install\` restores what it lists, \`metier verify\` compares.
# After a merge conflict keep the tables of both sides, of one skill the newer one, then run \`metier install\`.
version = ${LOCK_VERSION}
`;

const RESTORE_HINT =
  "Restore the file from version control or a backup, or delete it and install what you need again.";

class LockFault extends Error {
  readonly hint: string;
  /** Where the invalid key is. */
  readonly at: readonly string[];
  constructor(message: string, at: readonly string[], hint: string = RESTORE_HINT) {
    super(message);
    this.at = at;
    this.hint = hint;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Without faults the skills are sorted by their names here. */
export function parseLock(text: string, owner: LockOwner): Result<Lock, LockRefusal> {
  if (last?.text !== text || last.owner !== owner) last = { text, owner, parsed: parseText(text, owner) };
  return last.parsed;
}

/** An installation reads its own lock several times; parsed locks never change. */
let last:
  | { readonly text: string; readonly owner: LockOwner; readonly parsed: Result<Lock, LockRefusal> }
  | undefined;

function parseText(text: string, owner: LockOwner): Result<Lock, LockRefusal> {
  const size = Buffer.byteLength(text);
  if (size > LOCK_LIMITS.bytes) {
    return refuse(`It has ${size} bytes; the limit for a lock is ${LOCK_LIMITS.bytes} bytes.`, RESTORE_HINT);
  }
  const conflict = findConflict(text);
  if (conflict !== undefined) return conflict;
  let document: ConfigDocument | undefined;
  try {
    document = parseTomlDocument(text.replace(/^\uFEFF/, ""));
    return done(readLockTable(document.values, owner));
  } catch (fault) {
    if (fault instanceof LockFault)
      return refuse(fault.message, fault.hint, document?.locate(fault.at)?.line);
    if (fault instanceof ConfigSyntaxError) return refuseSyntax(fault);
    if (fault instanceof RangeError) return refuse("It is nested too deeply.", RESTORE_HINT);
    throw fault;
  }
}

/** Lines that git leaves in a file that two branches changed. */
const CONFLICT_MARK = /^(?:<{7}|={7}|>{7}|\|{7})(?:[ \r]|$)/m;

function findConflict(text: string): Refused<LockRefusal> | undefined {
  const at = text.search(CONFLICT_MARK);
  if (at === -1) return undefined;
  return refuse(
    "It contains merge conflict markers.",
    "Keep the tables of both sides (for a skill in both, the newer one), delete the markers, then run `metier install`.",
    text.slice(0, at).split("\n").length,
  );
}

function refuseSyntax({ message, position }: ConfigSyntaxError): Refused<LockRefusal> {
  const isTwice = message.includes("redefine");
  const hint = isTwice ? "Keep only one table or key of that name." : RESTORE_HINT;
  const what = isTwice ? "A table or key appears twice" : `It is not TOML: ${message}`;
  return refuse(`${what}.`, hint, position?.line);
}

function refuse(message: string, hint: string, line?: number): Refused<LockRefusal> {
  return refused({ message, hint, line });
}

function readLockTable(values: Fields, owner: LockOwner): Lock {
  const { version, skills = {}, ...others } = values;
  if (version !== LOCK_VERSION) {
    throw new LockFault(
      `\`version\` is ${show(version)}; this Metier supports version ${LOCK_VERSION}.`,
      ["version"],
      "Use a newer Metier, or restore the file if nobody uses one.",
    );
  }
  refuseUnknown(Object.keys(others), []);
  if (!isTable(skills)) throw new LockFault("`skills` must have a table for each skill.", ["skills"]);
  const entries = Object.entries(skills);
  if (entries.length > LOCK_LIMITS.skills) {
    throw new LockFault(`It lists ${entries.length} skills; the limit is ${LOCK_LIMITS.skills}.`, ["skills"]);
  }
  return { skills: entries.map(([called, table]) => readEntry(called, table, owner)).sort(byName) };
}

/** The name is written if the table has another. */
type WrittenEntry = Omit<LockEntry, "name" | "alias" | "placed" | "previous"> & { readonly name?: string };

function readEntry(called: string, table: unknown, owner: LockOwner): LockEntry {
  const at = ["skills", called];
  if (!isLockName(called)) {
    throw new LockFault(`${show(called)} is not a valid skill name.`, at);
  }
  if (!isTable(table)) throw new LockFault(`\`skills.${called}\` must be a table.`, at);
  const { placed, previous, ...fields } = table;
  const { name = called, ...rest } = readFields<WrittenEntry>(fields, ENTRY_FIELDS, at, owner);
  const entry: LockEntry = {
    name,
    ...(name !== called && { alias: called }),
    ...rest,
    ...(placed !== undefined && { placed: readPlaced(placed, [...at, "placed"], owner) }),
    ...(previous !== undefined && {
      previous: readFields<PreviousVersion>(previous, PREVIOUS_FIELDS, [...at, "previous"], owner),
    }),
  };
  checkWhole(entry, at, owner);
  return entry;
}

/** Checks that need more than one key. */
function checkWhole(
  { linked, copied, kind, resolved }: LockEntry,
  at: readonly string[],
  owner: LockOwner,
): void {
  if (copied && (linked || owner === "user")) {
    throw new LockFault("`copied` is for a project's own copy, which cannot be linked.", [...at, "copied"]);
  }
  if (!linked) return;
  if (kind !== "folder") {
    throw new LockFault(`\`linked\` is for \`kind = "folder"\`, not for ${show(kind)}.`, [...at, "linked"]);
  }
  if (!isOwnersPath(resolved, owner)) {
    const allowed = owner === "project" ? "a path inside the project, with `/`" : "an absolute path";
    throw new LockFault(`\`resolved\` of a linked skill is ${show(resolved)}; allowed: ${allowed}.`, [
      ...at,
      "resolved",
    ]);
  }
}

function readPlaced(value: unknown, at: readonly string[], owner: LockOwner): readonly PlacedCopy[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > LOCK_LIMITS.placed) {
    throw new LockFault(`\`${at.join(".")}\` must be 1 to ${LOCK_LIMITS.placed} tables.`, at);
  }
  const copies = value.map((table) => readFields<PlacedCopy>(table, PLACED_FIELDS, at, owner));
  return copies.sort(byPlace);
}

/** `Value` is the type whose properties `fields` names, with what each accepts. */
function readFields<Value>(
  table: unknown,
  fields: readonly LockField[],
  at: readonly string[],
  owner: LockOwner,
): Value {
  if (!isTable(table)) throw new LockFault(`\`${at.join(".")}\` must be a table.`, at);
  const read: Record<string, unknown> = {};
  for (const { key, needed, allowed, accepts } of fields) {
    const value = Object.hasOwn(table, key) ? table[key] : undefined;
    if (value === undefined && !needed) continue;
    if (!accepts(value, owner)) {
      const what = value === undefined ? `has no \`${key}\`` : `has ${show(value)} as \`${key}\``;
      throw new LockFault(`\`${at.join(".")}\` ${what}; allowed: ${allowed}.`, [...at, key]);
    }
    read[propertyOf(key)] = value;
  }
  const unknown = Object.keys(table).filter((key) => !fields.some((field) => field.key === key));
  refuseUnknown(unknown, at);
  return read as Value;
}

/** Thousands of entries have the same few keys. */
const properties = new Map(
  [...ENTRY_FIELDS, ...PLACED_FIELDS, ...PREVIOUS_FIELDS].map(({ key }) => [key, toCamelCase(key)]),
);

function propertyOf(key: string): string {
  return properties.get(key) ?? key;
}

/** An unknown key had a purpose, and restoring or removing without it may be wrong. */
function refuseUnknown([key]: readonly string[], at: readonly string[]): void {
  if (key === undefined) return;
  const where = at.length === 0 ? "The lock" : `\`${at.join(".")}\``;
  throw new LockFault(
    `${where} has the unknown key ${show(key)}.`,
    [...at, key],
    "Use a newer Metier if that made the file, or remove the key.",
  );
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return showPath(value);
  return typeof value === "object" ? "a table or list" : showPath(String(value));
}

/** Always the same bytes for the same lock, in any order. */
export function renderLock({ skills }: Lock): string {
  return [HEADER, ...skills.toSorted(byName).map(renderEntry)].join("\n");
}

function renderEntry(entry: LockEntry): string {
  const table = formatKeyPath(["skills", calledAs(entry)]);
  const { name, alias, placed, previous } = entry;
  const named = { ...entry, name: alias === undefined ? undefined : name };
  return [
    `[${table}]\n${renderFields(named, ENTRY_FIELDS)}`,
    ...(placed ?? [])
      .toSorted(byPlace)
      .map((copy) => `\n[[${table}.placed]]\n${renderFields(copy, PLACED_FIELDS)}`),
    ...(previous ? [`\n[${table}.previous]\n${renderFields(previous, PREVIOUS_FIELDS)}`] : []),
  ].join("");
}

/** Strings here have no control characters, so JSON's form of a string is TOML's. */
function renderFields(values: object, fields: readonly LockField[]): string {
  const given: Fields = { ...values };
  return fields
    .filter(({ key }) => given[propertyOf(key)] !== undefined)
    .map(({ key }) => `${key} = ${JSON.stringify(given[propertyOf(key)])}\n`)
    .join("");
}

function byName(a: LockEntry, b: LockEntry): number {
  return compareText(calledAs(a), calledAs(b));
}

function byPlace(a: PlacedCopy, b: PlacedCopy): number {
  return compareText(a.client, b.client) || compareText(a.path, b.path);
}

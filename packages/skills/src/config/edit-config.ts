/**
 * Edits config files for commands. Keys and values are checked against the table first; a broken file is refused, and
 * comments are kept. Everything here throws `ConfigError`.
 */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "@metier/base/errors";
import { removeLeftovers, writeAtomic } from "@metier/base/files";
import type { ConfigField } from "./config-field.ts";
import { FIELD_TREE, type FieldNode, type FoundField, findField, findKey } from "./config-fields.ts";
import { type DocumentChange, editDocument, formatOf, readConfigFile } from "./formats/config-document.ts";
import { formatKeyPath, showConfigValue } from "./show-config.ts";
import { isTable } from "./value-types.ts";

interface ConfigEdit {
  readonly file: string;
  /** In any spelling; `parseKeyPath` parses dotted text. */
  readonly path: readonly string[];
  /** A project file does not accept keys and secrets. */
  readonly target?: "user" | "project" | undefined;
}

/** Whether a value is allowed does not depend on where its paths lead. */
const ANYWHERE = { home: "/", base: "/" };

/** Converts command line text to a value of the key's type. */
export function parseConfigValue(path: readonly string[], text: string): unknown {
  const { field, segments } = requireField({ path });
  const value = field.type.fromText(text);
  requireValue(field, segments, value, text);
  return value;
}

/** Returns whether the file changed, like the others below. */
export async function setConfigValue(edit: ConfigEdit & { readonly value: unknown }): Promise<boolean> {
  const { field, segments } = requireField(edit);
  requireValue(field, segments, edit.value);
  return editConfigFile(edit.file, segments, () => edit.value);
}

/** Replaces a whole table: each key is checked separately. The comment goes above it if the format has comments. */
export async function setConfigTable(
  edit: ConfigEdit & { readonly values: Table; readonly comment: readonly string[] },
): Promise<boolean> {
  const { file, path, target, values, comment } = edit;
  for (const [key, value] of Object.entries(values)) {
    const { field, segments } = requireField({ path: [...path, key], target });
    requireValue(field, segments, value);
  }
  return editConfigFile(file, path, () => values, comment);
}

export async function unsetConfigValue(edit: ConfigEdit): Promise<boolean> {
  return editConfigFile(edit.file, requireField(edit).segments, () => undefined);
}

export async function addToConfigList(edit: ConfigEdit & { readonly item: string }): Promise<boolean> {
  const { segments } = requireListField(edit);
  return editConfigFile(edit.file, segments, (current) => {
    const items = toList(current);
    return items.includes(edit.item) ? current : [...items, edit.item];
  });
}

export async function removeFromConfigList(edit: ConfigEdit & { readonly item: string }): Promise<boolean> {
  const { segments } = requireListField(edit);
  return editConfigFile(edit.file, segments, (current) => {
    const items = toList(current);
    return items.includes(edit.item) ? items.filter((item) => item !== edit.item) : current;
  });
}

function requireField({ path, target }: Pick<ConfigEdit, "path" | "target">): FoundField {
  const found = findField(path);
  if (!found.ok) {
    const { message, hint } = found.refusal;
    throw new ConfigError(message, undefined, { hint: hint || undefined });
  }
  const { field, segments } = found.value;
  if (target === "project" && field.project === "never") {
    throw new ConfigError(`\`${formatKeyPath(segments)}\` is read only from the user file.`, undefined, {
      hint: "Remove `--project`, so that it is not shared with the project.",
    });
  }
  return found.value;
}

function requireListField(edit: ConfigEdit): FoundField {
  const found = requireField(edit);
  if (Array.isArray(found.field.type.read([], ANYWHERE))) return found;
  throw new ConfigError(`\`${formatKeyPath(found.segments)}\` is not a list.`, undefined, {
    hint: `Set it to ${found.field.type.allowed}.`,
  });
}

function requireValue(
  field: ConfigField,
  segments: readonly string[],
  value: unknown,
  written: unknown = value,
): void {
  if (field.type.read(value, ANYWHERE) !== undefined) return;
  const key = formatKeyPath(segments);
  throw new ConfigError(`\`${key}\` cannot be ${showConfigValue(field, written)}.`, undefined, {
    hint: `Allowed: ${field.type.allowed}.`,
  });
}

function toList(current: unknown): readonly unknown[] {
  if (current === undefined || current === null) return [];
  return Array.isArray(current) ? current : [current];
}

type Table = Readonly<Record<string, unknown>>;

const MOST_ATTEMPTS = 10;

/**
 * One change to one file: read, edited as text, replaced as a whole. If someone else wrote the file in the meantime,
 * the edit starts over on their version. `change` gets the key's value in the file and returns the new one; `undefined`
 * is none.
 */
export async function editConfigFile(
  file: string,
  segments: readonly string[],
  change: (current: unknown) => unknown,
  comment: readonly string[] = [],
): Promise<boolean> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { text, values } = await readForEdit(file);
    const [first, ...others] = planChanges(file, values, segments, change);
    if (first === undefined) return false;
    const changes = [{ ...first, comment }, ...others];
    const edited = await editText(file, text ?? "", changes);
    removeLeftovers(file);
    if (replaceIfSame(file, text, edited)) return true;
  }
  throw new ConfigError(`\`${file}\` kept changing during the edit.`, file, {
    hint: "Close the program that writes to it, then try again.",
  });
}

async function readForEdit(
  file: string,
): Promise<{ readonly text: string | undefined; readonly values: Table }> {
  const reading = await readConfigFile(file);
  if (reading.status === "absent") return { text: undefined, values: {} };
  if (reading.status === "loaded")
    return { text: reading.bytes.toString("utf8"), values: reading.document.values };
  const hint = "Fix it first; nothing was changed.";
  throw new ConfigError(reading.diagnostic.message, file, { hint });
}

/** Keeps the existing spelling; of several, one is left. */
function planChanges(
  file: string,
  values: Table,
  segments: readonly string[],
  change: (current: unknown) => unknown,
): readonly DocumentChange[] {
  const [path, ...others] = findSpellings(values, FIELD_TREE, segments);
  const current = path?.reduce<unknown>((table, key) => (table as Table)[key], values);
  const value = change(current);
  const removals = others.map((other) => ({ path: other }));
  if (isDeepStrictEqual(value, current)) return removals;
  return [{ path: path ?? newPath(file, values, segments), value }, ...removals];
}

/** Every way in which the key or table is written in the file. */
function findSpellings(
  table: Table,
  node: FieldNode,
  [segment, ...rest]: readonly string[],
): readonly (readonly string[])[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const found = findKey(node, key, rest.length > 0 || isTable(value));
    if (!found || found.segment !== segment) return [];
    if (rest.length === 0) return [[key]];
    return isTable(value) ? findSpellings(value, found.node, rest).map((path) => [key, ...path]) : [];
  });
}

/** Inside the existing tables, as written; from there on in the canonical spelling. */
function newPath(file: string, values: Table, segments: readonly string[]): readonly string[] {
  for (let length = segments.length - 1; length > 0; length--) {
    const [parent] = findSpellings(values, FIELD_TREE, segments.slice(0, length));
    if (!parent) continue;
    const table = parent.reduce<unknown>((holder, key) => (holder as Table)[key], values);
    if (isTable(table) || table === null) return [...parent, ...segments.slice(length)];
    throw new ConfigError(`\`${formatKeyPath(parent)}\` in \`${file}\` is not a table.`, file, {
      hint: "Make it a table, or remove it; nothing was changed.",
    });
  }
  return segments;
}

async function editText(file: string, text: string, changes: readonly DocumentChange[]): Promise<string> {
  try {
    return await editDocument(text, formatOf(file), changes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`\`${file}\` cannot be edited: ${reason}.`, file, {
      hint: "Edit the file yourself; nothing was changed.",
      cause,
    });
  }
}

function replaceIfSame(file: string, before: string | undefined, after: string): boolean {
  try {
    return writeAtomic(file, after, { onlyIf: () => readTextOr(file) === before });
  } catch (cause) {
    const { code = "an unknown fault" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`\`${file}\` cannot be written: the system says ${code}.`, file, {
      hint: "Make the file and its folder writable; nothing was changed.",
      cause,
    });
  }
}

function readTextOr(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fault;
  }
}

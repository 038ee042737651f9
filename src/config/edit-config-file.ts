/**
 * One change to one config file: read, edited as text, replaced as a whole. When someone else wrote the file
 * meanwhile, the edit starts over on what they wrote.
 */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../foundation/errors.ts";
import { removeLeftovers, writeAtomic } from "../host/write-atomic.ts";
import { FIELD_TREE, type FieldNode, findKey } from "./find-field.ts";
import { formatOf } from "./formats/config-document.ts";
import { type DocumentChange, editDocument } from "./formats/edit-document.ts";
import { formatKeyPath } from "./key-path.ts";
import { readConfigFile } from "./read-config-file.ts";
import { isTable } from "./value-types.ts";

type Table = Readonly<Record<string, unknown>>;

const MOST_ATTEMPTS = 10;

/** `change` gets what stands in the file for the key, and answers what shall stand there; `undefined` is nothing. */
export async function editConfigFile(
  file: string,
  segments: readonly string[],
  change: (current: unknown) => unknown,
): Promise<boolean> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { text, values } = await readForEdit(file);
    const changes = planChanges(file, values, segments, change);
    if (changes.length === 0) return false;
    const edited = await editText(file, text ?? "", changes);
    removeLeftovers(file);
    if (replaceIfSame(file, text, edited)) return true;
  }
  throw new ConfigError(`\`${file}\` kept changing while it was edited.`, file, {
    hint: "Close what else writes it, then try again.",
  });
}

async function readForEdit(
  file: string,
): Promise<{ readonly text: string | undefined; readonly values: Table }> {
  const reading = await readConfigFile(file);
  if (reading.status === "absent") return { text: undefined, values: {} };
  if (reading.status === "loaded")
    return { text: reading.bytes.toString("utf8"), values: reading.document.values };
  const hint = "Repair it first; nothing was changed.";
  throw new ConfigError(reading.diagnostic.message, file, { hint });
}

/** The spelling that is there is kept; of several, one is left. */
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

/** Below the tables that are there, as they are written; from there on in the canonical spelling. */
function newPath(file: string, values: Table, segments: readonly string[]): readonly string[] {
  for (let length = segments.length - 1; length > 0; length--) {
    const [parent] = findSpellings(values, FIELD_TREE, segments.slice(0, length));
    if (!parent) continue;
    const table = parent.reduce<unknown>((holder, key) => (holder as Table)[key], values);
    if (isTable(table) || table === null) return [...parent, ...segments.slice(length)];
    throw new ConfigError(`\`${formatKeyPath(parent)}\` in \`${file}\` is not a table.`, file, {
      hint: "Make it one, or remove it; nothing was changed.",
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
      hint: "Change the file by hand; nothing was changed.",
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

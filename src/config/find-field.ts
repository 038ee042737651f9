/**
 * From a key as someone wrote it to its row in the table. Kebab, snake and camel case and the other names of a key
 * are accepted; names of skills, models, providers and tools are taken as they are.
 */
import { nearestNames } from "../foundation/nearest-names.ts";
import { toKebabCase } from "../foundation/spelling.ts";
import { CONFIG_FIELDS, type ConfigField } from "./config-fields.ts";
import { formatKeyPath } from "./key-path.ts";

/** UPPER_CASE keys of a skill's table are its environment, exactly as written. */
const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** A place in the tree of keys: a table with known keys, or a value. */
export interface FieldNode {
  readonly keys: ReadonlyMap<string, FieldNode>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Below a table of names (`models.<alias>`): what each of them is. */
  readonly named?: FieldNode;
  /** Below a skill's table: what an UPPER_CASE key is. */
  readonly variable?: FieldNode;
  readonly field?: ConfigField;
}

export interface FoundKey {
  /** The canonical spelling, or the name as written. */
  readonly segment: string;
  readonly node: FieldNode;
}

interface GrowingNode extends FieldNode {
  readonly keys: Map<string, GrowingNode>;
  readonly aliases: Map<string, string>;
  named?: GrowingNode;
  variable?: GrowingNode;
  field?: ConfigField;
}

function newNode(): GrowingNode {
  return { keys: new Map(), aliases: new Map() };
}

function childOf(node: GrowingNode, segment: string): GrowingNode {
  if (segment === "<VARIABLE>") {
    node.variable ??= newNode();
    return node.variable;
  }
  if (segment.startsWith("<")) {
    node.named ??= newNode();
    return node.named;
  }
  const known = node.keys.get(segment) ?? newNode();
  node.keys.set(segment, known);
  return known;
}

function buildTree(fields: readonly ConfigField[]): FieldNode {
  const root = newNode();
  for (const field of fields) {
    const segments = field.path.split(".");
    const last = segments.at(-1) ?? "";
    const parent = segments.slice(0, -1).reduce(childOf, root);
    childOf(parent, last).field = field;
    for (const alias of field.aliases ?? []) parent.aliases.set(alias, last);
  }
  return root;
}

export const FIELD_TREE: FieldNode = buildTree(CONFIG_FIELDS);

/**
 * What `key` means below `node`; `undefined` when nothing. Whether it holds a table matters for names: below
 * `[skills]` a table is a skill, anything else a mistyped setting.
 */
export function findKey(node: FieldNode, key: string, holdsTable: boolean): FoundKey | undefined {
  if (node.variable && VARIABLE_NAME.test(key)) return { segment: key, node: node.variable };
  const kebab = toKebabCase(key);
  const segment = node.aliases.get(kebab) ?? kebab;
  const known = node.keys.get(segment);
  if (known) return { segment, node: known };
  const { named } = node;
  return named && (holdsTable || named.field) ? { segment: key, node: named } : undefined;
}

export interface FoundField {
  readonly field: ConfigField;
  /** The canonical path. */
  readonly segments: readonly string[];
}

/** The row for a whole path, or what is wrong with the path. */
export function findField(
  path: readonly string[],
): FoundField | { readonly fault: string; readonly hint: string } {
  let node: FieldNode = FIELD_TREE;
  const segments: string[] = [];
  for (const [index, key] of path.entries()) {
    const found = findKey(node, key, index < path.length - 1);
    if (!found) {
      const written = formatKeyPath(path.slice(0, index + 1));
      return { fault: `\`${written}\` is not a config key.`, hint: suggestKey(node, key) };
    }
    segments.push(found.segment);
    node = found.node;
  }
  if (node.field) return { field: node.field, segments };
  return { fault: `\`${formatKeyPath(path)}\` is a table, not a value.`, hint: suggestKey(node, "") };
}

/** "Did you mean `x`?", or what there is to choose from, for a key that is not known below `node`. */
export function suggestKey(node: FieldNode, key: string): string {
  const known = [...node.keys.keys()];
  const near = nearestNames(toKebabCase(key), [...known, ...node.aliases.keys()]);
  if (near.length > 0) return `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`;
  return known.length > 0 ? `Known here: ${known.map((name) => `\`${name}\``).join(", ")}.` : "";
}

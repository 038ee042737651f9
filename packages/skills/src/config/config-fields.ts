/**
 * Every config key once: its type, default, other names, and who may set it. Loading, the environment, edits, `config
 * --explain` and the reference page use this table; nothing else names a key. Also finds the row for a written key:
 * accepts kebab, snake and camel case and other names of a key; names of skills, models, providers and tools are used
 * as written.
 */
import { done, type Result, refused } from "@metier/base/result";
import { nearestNames, toKebabCase } from "@metier/base/text";
import type { Config } from "./config.ts";
import type { ConfigField } from "./config-field.ts";
import {
  ENVIRONMENT_FIELDS,
  INSTALL_FIELDS,
  LIMIT_FIELDS,
  SANDBOX_FIELDS,
  SCAN_FIELDS,
  TOOL_FIELDS,
} from "./limit-fields.ts";
import { CAPABILITY_FIELDS, MCP_FIELDS, MODEL_FIELDS } from "./service-fields.ts";
import { formatKeyPath } from "./show-config.ts";
import { SKILL_FIELDS } from "./skill-fields.ts";

/** What only the policy sets, and the list of faults, are not sections of a file. */
const SECTIONS: Readonly<
  Record<Exclude<keyof Config, `policy${string}` | "wrongLimits">, readonly ConfigField[]>
> = {
  skills: SKILL_FIELDS,
  models: MODEL_FIELDS,
  capabilities: CAPABILITY_FIELDS,
  mcp: MCP_FIELDS,
  tools: TOOL_FIELDS,
  sandbox: SANDBOX_FIELDS,
  scan: SCAN_FIELDS,
  install: INSTALL_FIELDS,
  environments: ENVIRONMENT_FIELDS,
  runs: LIMIT_FIELDS,
};

export const CONFIG_FIELDS: readonly ConfigField[] = Object.values(SECTIONS).flat();

/** UPPER_CASE keys in a skill's table are its environment, exactly as written. */
const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** A node in the tree of keys: a table with known keys, or a value. */
export interface FieldNode {
  readonly keys: ReadonlyMap<string, FieldNode>;
  readonly aliases: ReadonlyMap<string, string>;
  /** For a table of names (`models.<alias>`): what each of them is. */
  readonly named?: FieldNode;
  /** For a skill's table: what an UPPER_CASE key is. */
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
 * What `key` means in `node`; `undefined` if unknown. Whether it holds a table matters for names: in `[skills]` a table
 * is a skill, anything else a mistyped setting.
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

/** The row for a full path, or what is wrong with it. `find` says what one key means. */
export function findField(path: readonly string[], find: typeof findKey = findKey): Result<FoundField> {
  let node: FieldNode = FIELD_TREE;
  const segments: string[] = [];
  for (const [index, key] of path.entries()) {
    const found = find(node, key, index < path.length - 1);
    if (!found) {
      const written = formatKeyPath(path.slice(0, index + 1));
      return refused({ message: `\`${written}\` is not a config key.`, hint: suggestKey(node, key) });
    }
    segments.push(found.segment);
    node = found.node;
  }
  if (node.field) return done({ field: node.field, segments });
  return refused({
    message: `\`${formatKeyPath(path)}\` is a table, not a value.`,
    hint: suggestKey(node, ""),
  });
}

/** "Did you mean `x`?", or the choices, for an unknown key in `node`. */
export function suggestKey(node: FieldNode, key: string): string {
  const known = [...node.keys.keys()];
  const near = nearestNames(toKebabCase(key), [...known, ...node.aliases.keys()]);
  if (near.length > 0) return `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`;
  return known.length > 0 ? `Known here: ${known.map((name) => `\`${name}\``).join(", ")}.` : "";
}

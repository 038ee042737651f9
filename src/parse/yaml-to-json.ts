/**
 * A YAML document's nodes to plain data: strings, numbers, booleans, null, lists and maps, bounded in size and
 * depth however often aliases repeat a part. Nothing in a document can make it run code or reach a prototype.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { shorten } from "./shorten.ts";
import { positionAt } from "./text-position.ts";

const MAX_NODES = 10_000;
const MAX_DEPTH = 50;
/** Faults after these say nothing new, and finding their lines takes time. */
const MAX_FAULTS = 20;

/** Why a document cannot be turned into data. */
export interface Obstacle {
  readonly code: "yaml.invalid" | "yaml.too-complex";
  readonly message: string;
  readonly offset: number;
}

interface Walk {
  readonly text: string;
  readonly firstLine: number;
  readonly anchors: Map<string, Node>;
  readonly faults: Fault[];
  nodes: number;
  obstacle: Obstacle | undefined;
}

export interface Converted {
  readonly value: Json;
  readonly faults: readonly Fault[];
  readonly obstacle: Obstacle | undefined;
}

/** `text` is the document's source, whose first line is line `firstLine` of its file. */
export function convertYaml(document: Document, text: string, firstLine: number): Converted {
  const walk: Walk = { text, firstLine, anchors: new Map(), faults: [], nodes: 0, obstacle: undefined };
  const value = convertNode(walk, document.contents, 0);
  return { value, faults: walk.faults, obstacle: walk.obstacle };
}

function convertNode(walk: Walk, node: unknown, depth: number): Json {
  if (walk.obstacle !== undefined) return null;
  if (++walk.nodes > MAX_NODES || depth > MAX_DEPTH) return stopTooComplex(walk, node);
  if (isAlias(node)) {
    const target = walk.anchors.get(node.source);
    if (target !== undefined) return convertNode(walk, target, depth + 1);
    return stop(walk, node, `The alias \`*${shorten(node.source)}\` refers to no anchor above it`);
  }
  if (isScalar(node)) return convertScalar(walk, node);
  if (isMap(node)) {
    remember(walk, node);
    return convertMap(walk, node, depth);
  }
  if (isSeq(node)) {
    remember(walk, node);
    return node.items.map((item) => convertNode(walk, item, depth + 1));
  }
  return null;
}

function convertScalar(walk: Walk, node: Scalar): Json {
  if (node.anchor?.endsWith(";"))
    return stop(walk, node, `\`&${shorten(node.anchor)}\` is read as a YAML anchor, not as text`);
  remember(walk, node);
  const { value } = node;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && isExact(value)) return value === 0 ? 0 : value;
  return node.source ?? String(value);
}

/** A number that JSON can hold and that is the one that was written. */
function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function convertMap(walk: Walk, node: YAMLMap, depth: number): Json {
  const map: Record<string, Json> = {};
  for (const pair of node.items) {
    if (pair.key !== null && !isScalar(pair.key)) {
      return stop(walk, pair.key, "A list or map stands where a key belongs");
    }
    const key = keyText(pair.key);
    if (key === "__proto__") {
      report(
        walk,
        pair.key,
        "yaml.unsafe-key",
        "The key `__proto__` was left out.",
        "Give the key another name.",
      );
      continue;
    }
    if (Object.hasOwn(map, key)) {
      const message = `The key \`${shorten(key)}\` stands more than once; the last one counts.`;
      report(walk, pair.key, "yaml.duplicate-key", message, "Keep one of them.");
    }
    map[key] = convertNode(walk, pair.value, depth + 1);
  }
  return map;
}

/** Keys are kept as written: `1.0` is not `1`, `yes` is not `true`. */
function keyText(key: Scalar | null): string {
  if (key === null) return "";
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function remember(walk: Walk, node: Node & { readonly anchor?: string }): void {
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
}

function stop(walk: Walk, node: unknown, message: string): null {
  walk.obstacle ??= { code: "yaml.invalid", message, offset: offsetOf(node) };
  return null;
}

function stopTooComplex(walk: Walk, node: unknown): null {
  walk.obstacle ??= {
    code: "yaml.too-complex",
    message: `It has more than ${MAX_NODES} values or is nested deeper than ${MAX_DEPTH} levels, aliases counted each time`,
    offset: offsetOf(node),
  };
  return null;
}

function offsetOf(node: unknown): number {
  return (node as { readonly range?: readonly number[] } | null)?.range?.[0] ?? 0;
}

function report(
  { text, firstLine, faults }: Walk,
  node: unknown,
  code: Fault["code"],
  message: string,
  hint: string,
): void {
  if (faults.length >= MAX_FAULTS) return;
  faults.push({ code, severity: "warning", message, ...positionAt(text, offsetOf(node), firstLine), hint });
}

/**
 * Safe YAML 1.2 (core schema) by the `yaml` package: resolves no tags, bounds aliases, and gives every problem a line
 * and column. Imported only if the simple reader gave up, since loading `yaml` takes time.
 */
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type Scalar, type YAMLMap } from "yaml";
import { positionAt, shorten, type UnplacedDiagnostic, warnAt } from "./source-text.ts";

interface ReadYaml {
  readonly data: Json;
  readonly faults: readonly UnplacedDiagnostic[];
}

const OPTIONS = {
  version: "1.2",
  schema: "core",
  resolveKnownTags: false,
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** `text` has `\n` line breaks; its first line is line `firstLine` of the file. */
export function parseYaml(text: string, firstLine: number): Result<ReadYaml, UnplacedDiagnostic> {
  const result = readDocument(text, firstLine);
  if (result.ok) return result;
  const { code, message, offset } = result.refusal;
  return refused({
    code,
    severity: "error",
    message: `The frontmatter is not valid YAML: ${shorten(message, 200)}.`,
    ...positionAt(text, offset, firstLine),
    hint:
      code === "yaml.too-complex"
        ? "Keep metadata small and flat."
        : "Put text with special characters in quotes.",
  });
}

function readDocument(text: string, firstLine: number): Result<ReadYaml, Obstacle> {
  try {
    const document = parseDocument(text, OPTIONS);
    const fault = document.errors[0] ?? document.warnings.find(({ code }) => code === "TAG_RESOLVE_FAILED");
    if (fault) return refused({ code: "yaml.invalid", message: fault.message, offset: fault.pos[0] });
    const walk: Walk = { text, firstLine, anchors: new Map(), faults: [], nodes: 0, obstacle: undefined };
    const data = convertNode(walk, document.contents, 0);
    return walk.obstacle ? refused(walk.obstacle) : done({ data, faults: walk.faults });
  } catch (error) {
    // The package recurses: nesting beyond the stack ends in a RangeError, which is the document's fault.
    const message = error instanceof Error ? error.message : String(error);
    return refused({ code: "yaml.too-complex", message, offset: 0 });
  }
}

const MAX_NODES = 10_000;
const MAX_DEPTH = 50;
const TOO_COMPLEX = `It has more than ${MAX_NODES} values or more than ${MAX_DEPTH} levels, with aliases counted each time`;
/** Further problems say nothing new, and finding their lines takes time. */
const MAX_FAULTS = 20;

/** Why a document cannot be turned into data. */
interface Obstacle {
  readonly code: "yaml.invalid" | "yaml.too-complex";
  readonly message: string;
  readonly offset: number;
}

interface Walk {
  /** The document's source, whose first line is line `firstLine` of its file. */
  readonly text: string;
  readonly firstLine: number;
  readonly anchors: Map<string, Node>;
  readonly faults: UnplacedDiagnostic[];
  nodes: number;
  obstacle: Obstacle | undefined;
}

/**
 * Converts nodes to plain data: strings, numbers, booleans, null, lists and maps, bounded in size and depth however
 * often aliases repeat a part. Nothing in a document can run code or reach a prototype.
 */
function convertNode(walk: Walk, node: unknown, depth: number): Json {
  if (walk.obstacle !== undefined) return null;
  if (++walk.nodes > MAX_NODES || depth > MAX_DEPTH) return stop(walk, node, TOO_COMPLEX, "yaml.too-complex");
  if (isAlias(node)) {
    const target = walk.anchors.get(node.source);
    if (target !== undefined) return convertNode(walk, target, depth + 1);
    return stop(walk, node, `The alias \`*${shorten(node.source)}\` has no anchor above it`);
  }
  if (isScalar(node)) return convertScalar(walk, node);
  if (!isMap(node) && !isSeq(node)) return null;
  remember(walk, node);
  if (isMap(node)) return convertMap(walk, node, depth);
  return node.items.map((item) => convertNode(walk, item, depth + 1));
}

function convertScalar(walk: Walk, node: Scalar): Json {
  if (node.anchor?.endsWith(";"))
    return stop(walk, node, `\`&${shorten(node.anchor)}\` is a YAML anchor, not text`);
  remember(walk, node);
  const { value } = node;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && isExact(value)) return value === 0 ? 0 : value;
  return node.source ?? String(value);
}

/** A number that JSON can represent exactly as written. */
function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function convertMap(walk: Walk, node: YAMLMap, depth: number): Json {
  const map: Record<string, Json> = {};
  for (const pair of node.items) {
    if (pair.key !== null && !isScalar(pair.key)) {
      return stop(walk, pair.key, "A list or map is used as a key");
    }
    const key = keyText(pair.key);
    if (key === "__proto__") {
      const message = "The key `__proto__` was ignored.";
      report(walk, pair.key, "yaml.unsafe-key", message, "Rename the key.");
      continue;
    }
    if (Object.hasOwn(map, key)) {
      const message = `The key \`${shorten(key)}\` appears more than once; the last one is used.`;
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

function stop(walk: Walk, node: unknown, message: string, code: Obstacle["code"] = "yaml.invalid"): null {
  walk.obstacle ??= { code, message, offset: offsetOf(node) };
  return null;
}

function offsetOf(node: unknown): number {
  return (node as { readonly range?: readonly number[] } | null)?.range?.[0] ?? 0;
}

function report(
  { text, firstLine, faults }: Walk,
  node: unknown,
  code: UnplacedDiagnostic["code"],
  message: string,
  hint: string,
): void {
  if (faults.length >= MAX_FAULTS) return;
  faults.push(warnAt(positionAt(text, offsetOf(node), firstLine), code, message, hint));
}

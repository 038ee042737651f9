/** YAML config files: one document, no custom tags, bounded aliases; and edits that keep comments and blank lines. */
import { type Document, isMap, isNode, isScalar, isSeq, parseDocument, type YAMLSeq } from "yaml";
import { isTable } from "../value-types.ts";
import {
  type ConfigDocument,
  ConfigSyntaxError,
  type DocumentChange,
  KeyIndex,
  type LocatedValue,
  locateBy,
} from "./config-document.ts";

const MOST_ALIASES = 50;
const MOST_LEVELS = 10;

export function parseYamlDocument(text: string): ConfigDocument {
  const { value, locate } = parseYamlValue(text);
  if (isTable(value)) return { values: value, locate };
  throw new ConfigSyntaxError("the file must contain keys and values, not a list or a single value", {
    line: 1,
    column: 1,
  });
}

/** Any content of a document; an empty one has no keys. */
export function parseYamlValue(text: string): LocatedValue {
  const document = readYaml(text);
  return { value: toValue(document), locate: locateBy(() => indexKeys(document, text)) };
}

/** The document tree. Throws `ConfigSyntaxError`. */
function readYaml(text: string): Document {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
  const [fault] = document.errors;
  if (!fault) return document;
  throw new ConfigSyntaxError(describeFault(fault.message), new KeyIndex(text).positionOf(fault.pos[0]));
}

/** The text after a message's colon quotes the file, which may contain a secret. */
function describeFault(message: string): string {
  const [first = ""] = message.split(/: |\n/);
  return first;
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) ?? {};
  } catch {
    throw new ConfigSyntaxError(`more than ${MOST_ALIASES} aliases, or one without an anchor`);
  }
}

/** Nested keys and items; nothing is searched deeper than any known key. */
function indexKeys(document: Document, text: string): KeyIndex {
  const index = new KeyIndex(text);
  const visit = (node: unknown, path: readonly string[]): void => {
    if (path.length > MOST_LEVELS) return;
    for (const { name, mark, value } of partsOf(node)) {
      const partPath = [...path, name];
      if (isNode(mark) && mark.range) index.add(partPath, mark.range[0]);
      visit(value, partPath);
    }
  };
  visit(document.contents, []);
  return index;
}

/** Each with what starts there. */
function partsOf(
  node: unknown,
): readonly { readonly name: string; readonly mark: unknown; readonly value: unknown }[] {
  if (isSeq(node))
    return node.items.map((item, number) => ({ name: String(number), mark: item, value: item }));
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) =>
    isScalar(key) ? [{ name: String(key.value), mark: key, value }] : [],
  );
}

export function editYaml(text: string, changes: readonly DocumentChange[]): string {
  const document = readYaml(text);
  for (const { path, value } of changes) {
    const present = document.getIn(path, true);
    if (value === undefined) document.deleteIn(path);
    else if (isSeq(present) && Array.isArray(value) && editList(document, present, value)) continue;
    else setValue(document, path, value);
  }
  return document.toString({ lineWidth: 0 });
}

/** Removes and appends single entries, so that the others keep their comments; `false` if that is not enough. */
function editList(document: Document, list: YAMLSeq, wanted: readonly unknown[]): boolean {
  const present = list.items.map((item) => (isScalar(item) ? item.value : undefined));
  const kept = present.filter((item) => wanted.includes(item));
  const isPrefix = kept.every((item, index) => item === wanted[index]);
  if (!isPrefix || present.includes(undefined)) return false;
  list.items = list.items.filter((_, index) => wanted.includes(present[index]));
  for (const item of wanted.slice(kept.length)) list.add(document.createNode(item));
  return true;
}

/** A key without a value (`skills:`) is null, and becomes a table when something is set in it. */
function setValue(document: Document, path: readonly string[], value: unknown): void {
  for (let length = 1; length < path.length; length++) {
    const parent = path.slice(0, length);
    const node = document.getIn(parent, true);
    if (isScalar(node) && node.value === null) document.setIn(parent, document.createNode({}));
  }
  document.setIn(path, document.createNode(value));
}

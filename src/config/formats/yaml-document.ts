/** YAML config files: one document, no custom tags, bounded aliases. */
import { type Document, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";
import { isTable } from "../value-types.ts";
import { type ConfigDocument, ConfigSyntaxError } from "./config-document.ts";
import { KeyIndex } from "./key-index.ts";

const MOST_ALIASES = 50;
const MOST_LEVELS = 10;

export function parseYamlDocument(text: string): ConfigDocument {
  const { value, locate } = parseYamlValue(text);
  if (isTable(value)) return { values: value, locate };
  throw new ConfigSyntaxError("the file must hold keys and values, not a list or a single value", {
    line: 1,
    column: 1,
  });
}

/** Whatever a document holds; an empty one holds no keys. Items of lists are located by their number. */
export function parseYamlValue(text: string): { readonly value: unknown } & Pick<ConfigDocument, "locate"> {
  const document = readYaml(text);
  const value = toValue(document);
  let index: KeyIndex | undefined;
  return {
    value,
    locate: (path) => {
      index ??= indexKeys(document, text);
      return index.find(path);
    },
  };
}

/** The document tree, for edits that keep comments. Throws `ConfigSyntaxError`. */
export function readYaml(text: string): Document {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
  const [fault] = document.errors;
  if (!fault) return document;
  throw new ConfigSyntaxError(describeFault(fault.message), new KeyIndex(text).positionOf(fault.pos[0]));
}

/** What follows the colon of a message quotes the file, which may hold a secret. */
function describeFault(message: string): string {
  const [first = ""] = message.split(/: |\n/);
  return first;
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) ?? {};
  } catch {
    throw new ConfigSyntaxError(`more than ${MOST_ALIASES} aliases, or one that leads nowhere`);
  }
}

/** Keys and items, one within the other; deeper than any key that is known goes, nothing is looked for. */
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

/** Each with what stands where it begins. */
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

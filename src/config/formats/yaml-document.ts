/** YAML config files: one document, no custom tags, bounded aliases. */
import { type Document, isMap, isScalar, parseDocument } from "yaml";
import { isTable } from "../value-types.ts";
import { type ConfigDocument, ConfigSyntaxError } from "./config-document.ts";
import { KeyIndex } from "./key-index.ts";

const MOST_ALIASES = 50;
const MOST_LEVELS = 10;

export function parseYamlDocument(text: string): ConfigDocument {
  const document = readYaml(text);
  const values = toValues(document);
  let index: KeyIndex | undefined;
  return {
    values,
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

function toValues(document: Document): Readonly<Record<string, unknown>> {
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: MOST_ALIASES }) ?? {};
  } catch {
    throw new ConfigSyntaxError(`more than ${MOST_ALIASES} aliases, or one that leads nowhere`);
  }
  if (isTable(values)) return values;
  throw new ConfigSyntaxError("the file must hold keys and values, not a list or a single value", {
    line: 1,
    column: 1,
  });
}

/** Keys of mappings within mappings; deeper than any config key goes, nothing is looked for. */
function indexKeys(document: Document, text: string): KeyIndex {
  const index = new KeyIndex(text);
  const visit = (node: unknown, path: readonly string[]): void => {
    if (!isMap(node) || path.length > MOST_LEVELS) return;
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const keyPath = [...path, String(key.value)];
      if (key.range) index.add(keyPath, key.range[0]);
      visit(value, keyPath);
    }
  };
  visit(document.contents, []);
  return index;
}

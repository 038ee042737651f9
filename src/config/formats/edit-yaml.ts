/** Edits of a YAML document tree, which keeps comments and blank lines. */
import { type Document, isScalar, isSeq, type YAMLSeq } from "yaml";
import type { DocumentChange } from "./edit-document.ts";
import { readYaml } from "./yaml-document.ts";

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

/** Takes out and appends single entries, so that the comments of the others stay; `false` when that is not enough. */
function editList(document: Document, list: YAMLSeq, wanted: readonly unknown[]): boolean {
  const present = list.items.map((item) => (isScalar(item) ? item.value : undefined));
  const kept = present.filter((item) => wanted.includes(item));
  const isPrefix = kept.every((item, index) => item === wanted[index]);
  if (!isPrefix || present.includes(undefined)) return false;
  list.items = list.items.filter((_, index) => wanted.includes(present[index]));
  for (const item of wanted.slice(kept.length)) list.add(document.createNode(item));
  return true;
}

/** A key without a value (`skills:`) is null, and becomes a table when something is set below it. */
function setValue(document: Document, path: readonly string[], value: unknown): void {
  for (let length = 1; length < path.length; length++) {
    const parent = path.slice(0, length);
    const node = document.getIn(parent, true);
    if (isScalar(node) && node.value === null) document.setIn(parent, document.createNode({}));
  }
  document.setIn(path, document.createNode(value));
}

/** A key and its value as plain YAML that every parser reads alike: in blocks, without flow style where that goes. */
import { parseSimpleYaml } from "../../parse/simple-yaml.ts";
import type { Json } from "../../skill/manifest.ts";
import { isMap } from "../json-kinds.ts";

/** Lines without line ends. */
export function writeEntry(key: string, value: Json): readonly string[] {
  if (typeof value === "string") return writeText(key, value);
  if (isMap(value) && Object.keys(value).length > 0) {
    const inner = Object.entries(value).flatMap(([name, item]) => writeEntry(writeScalar(name), item));
    return [`${key}:`, ...inner.map(indent)];
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isScalar)) {
    return [`${key}:`, ...value.map((item: Json) => `  - ${writeScalar(item)}`)];
  }
  return [`${key}: ${JSON.stringify(value)}`];
}

/** Text of several lines becomes a block, unless blanks in it would be lost there. */
function writeText(key: string, text: string): readonly string[] {
  const isBlock = text.includes("\n") && !/^\s|[^\S\n](?:\n|$)|\n\n$|\t/.test(text);
  if (!isBlock) return [`${key}: ${writeScalar(text)}`];
  const lines = text.replace(/\n$/, "").split("\n");
  return [`${key}: ${text.endsWith("\n") ? "|" : "|-"}`, ...lines.map(indent)];
}

function indent(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

/** Without quotes where that reads as the same text. */
function writeScalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = /^[^\s"'[][^\n]*$/.test(value) && parseSimpleYaml(`key: ${value}`)?.key === value;
  return isPlain ? value : JSON.stringify(value);
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

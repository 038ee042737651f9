/** Fixes for single keys of the frontmatter. Each proposes texts; whether one is safe is for the caller to check. */
import type { YamlEntry } from "../../parse/yaml-entries.ts";
import type { Json } from "../../skill/manifest.ts";
import { findManifestField, findManifestFieldInAnyCase } from "../../skill/manifest-fields.ts";
import { isMap } from "../json-kinds.ts";
import { bare, entryAt, type Fix, type FixableFile, linesOf, withEntry, withLines } from "./fixable-file.ts";
import { writeEntry } from "./write-entry.ts";

/** Tabs and other blanks where YAML needs spaces, in the whole frontmatter. */
export const spaceBlanks: Fix = (file) => {
  const last = file.entries.at(-1);
  if (last === undefined) return [];
  const count = last.index + linesOf(file, last).length;
  const lines = file.lines.slice(file.yamlStart, file.yamlStart + count);
  const spaced = lines.map((line) =>
    bare(line).replace(/^[ \t\u00a0]+/, (blanks) => blanks.replaceAll("\t", "  ").replaceAll("\u00a0", " ")),
  );
  return [withLines(file, file.yamlStart, count, spaced)];
};

/** The entry as it was understood, in YAML that says so; not where lines of it were left out or are comments. */
export const rewriteEntry: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const value = entry && valueRead(file, entry);
  if (entry === undefined || value === undefined) return [];
  const below = linesOf(file, entry).slice(1);
  if (below.some((each) => /^\s*#/.test(each)) || hasDroppedLines(file, entry)) return [];
  const isFlow = /^[[{]/.test(entry.value) && typeof value === "object";
  const lines = isFlow ? [`${entry.key}: ${JSON.stringify(value)}`] : writeEntry(entry.key, value);
  return [withEntry(file, entry, lines)];
};

/** The value in the type its field has. */
export const writeAsRead: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const field = entry && findManifestField(entry.key);
  if (entry === undefined || field === undefined || field.kind === "lists" || hasComment(file, entry))
    return [];
  const value = file.manifest[field.property] as Json | undefined;
  return value === undefined ? [] : [withEntry(file, entry, writeEntry(entry.key, value))];
};

/** `allowed-tools` as one line with spaces. */
export const writeToolLine: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const tools = file.manifest.allowedTools?.join(" ");
  return entry && tools && !hasComment(file, entry)
    ? [withEntry(file, entry, writeEntry(entry.key, tools))]
    : [];
};

/** `version: 1.0` → `version: "1.0"`, as it is written rather than as it was read. */
export const quoteScalar: Fix = (file, line) => {
  const entry = entryAt(file, line);
  if (entry === undefined) return [];
  const [first = "", ...below] = linesOf(file, entry).map(bare);
  return [withEntry(file, entry, [quoteValue(first), ...below])];
};

/** The same below `metadata`. */
export const quoteMetadata: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const metadata = entry && valueRead(file, entry);
  if (entry === undefined || !isMap(metadata)) return [];
  const lines = linesOf(file, entry).map(bare);
  const quoted = lines.map((each) => {
    const name = /^ +([\w.-]+):/.exec(each)?.[1] ?? "";
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return typeof value === "number" || typeof value === "boolean" ? quoteValue(each) : each;
  });
  return [withEntry(file, entry, quoted)];
};

/** A key that says the same a second time goes. */
export const removeRepetition: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const first = file.entries.find((each) => each.key === entry?.key);
  if (entry === undefined || first === undefined || first === entry) return [];
  const isSame = linesOf(file, first).map(bare).join("\n") === linesOf(file, entry).map(bare).join("\n");
  return isSame ? [withEntry(file, entry, [])] : [];
};

/** `Description:` → `description:`. */
export const renameKey: Fix = (file, line) => {
  const entry = entryAt(file, line);
  const field = entry && findManifestFieldInAnyCase(entry.key);
  if (entry === undefined || field === undefined) return [];
  const [first = "", ...below] = linesOf(file, entry).map(bare);
  return [withEntry(file, entry, [first.replace(entry.key, field.name), ...below])];
};

/** The name that the directory gives becomes the first key. */
export const addName: Fix = (file) => {
  const line = `name: ${file.manifest.name}`;
  const empty = file.entries.find((entry) => entry.key === "name");
  return [empty ? withEntry(file, empty, [line]) : withLines(file, file.yamlStart, 0, [line])];
};

function valueRead({ parsed: { frontmatter = {} } }: FixableFile, { key }: YamlEntry): Json | undefined {
  return Object.hasOwn(frontmatter, key) ? frontmatter[key] : undefined;
}

function hasDroppedLines(file: FixableFile, entry: YamlEntry): boolean {
  return file.parsed.diagnostics.some(
    ({ code, line = 1 }) => code === "yaml.dropped" && entryAt(file, line) === entry,
  );
}

function hasComment(file: FixableFile, entry: YamlEntry): boolean {
  return linesOf(file, entry).some((line) => /(?:^|\s)#/.test(line));
}

/** Of `key: value # comment`, the value. */
function quoteValue(line: string): string {
  return line.replace(/^(\s*\S+:\s+)([^\s"'#]+)(?=\s*$|\s+#)/, '$1"$2"');
}

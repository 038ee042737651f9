/**
 * `validate --fix`: writes safe repairs back. A fix is kept only if the file then reads as the same skill with fewer
 * findings; everything else stays byte for byte.
 */
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { isJsonObject, type Json } from "@metier/base/json";
import { parseSkill } from "../parse/parse-skill.ts";
import type { YamlEntry } from "../parse/yaml-lines.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { findManifestField, findManifestFieldInAnyCase } from "../skill/manifest-fields.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import {
  bare,
  entryAt,
  type Fix,
  type FixableFile,
  isSameReading,
  linesOf,
  openFile,
  replaceEntry,
  replaceLines,
  writeEntry,
} from "./fixable-file.ts";
import type { Profile } from "./profiles.ts";
import { validateSkill } from "./validate-skill.ts";

interface FixedSkill {
  readonly text: string;
  /** The fixed findings, in order. */
  readonly fixed: readonly Diagnostic[];
}

interface Reading {
  readonly text: string;
  readonly parsed: ParsedSkill;
  readonly diagnostics: readonly Diagnostic[];
  /** Under `lenient`, so that there is one to compare whenever something can be fixed. */
  readonly manifest: SkillManifest | undefined;
  /** What is written, but has no place in the manifest. */
  readonly unknown: Readonly<Record<string, Json>>;
}

export async function fixSkill(
  text: string,
  candidate: SkillCandidate,
  profile: Profile = "standard",
): Promise<FixedSkill> {
  const fixed: Diagnostic[] = [];
  let reading = await read(text, candidate, profile);
  for (;;) {
    const step = await fixOne(reading, profile);
    if (step === undefined) return { text: reading.text, fixed };
    fixed.push(step.finding);
    reading = step.reading;
  }
}

/** The first fixable finding. Each fix leaves fewer findings, so this terminates. */
async function fixOne(
  before: Reading,
  profile: Profile,
): Promise<{ readonly reading: Reading; readonly finding: Diagnostic } | undefined> {
  if (before.manifest === undefined) return undefined;
  const file = openFile(before.text, before.parsed, before.manifest);
  for (const finding of before.diagnostics) {
    const { code, line = 1 } = finding;
    for (const text of (FIXES[code] ?? []).flatMap((fix) => fix(file, line))) {
      const reading = await read(text, before.parsed.candidate, profile);
      if (isBetter(reading, before)) return { reading, finding };
    }
  }
  return undefined;
}

async function read(text: string, candidate: SkillCandidate, profile: Profile): Promise<Reading> {
  const parsed = await parseSkill(candidate, text);
  const { diagnostics } = validateSkill(parsed, profile);
  const { manifest } = validateSkill(parsed, "lenient");
  const entries = Object.entries(parsed.frontmatter ?? {});
  const unknown = Object.fromEntries(entries.filter(([key]) => !findManifestFieldInAnyCase(key)));
  return { text, parsed, diagnostics, manifest, unknown };
}

function isBetter(after: Reading, before: Reading): boolean {
  return (
    after.diagnostics.length < before.diagnostics.length &&
    after.parsed.body === before.parsed.body &&
    isSameReading(after.manifest, before.manifest) &&
    isSameReading(after.unknown, before.unknown)
  );
}

/** Which findings can be fixed, and how. The author decides about the rest. */
const FIXES: Partial<Record<DiagnosticCode, readonly Fix[]>> = {
  "file.bom": [trimStart],
  "frontmatter.leading-blank": [trimStart],
  "frontmatter.glued-fence": [separateFence],
  "frontmatter.unclosed": [(file) => [close(file)]],
  "frontmatter.no-opening": [addBothFences],
  "yaml.repaired": [spaceBlanks, atEntry(rewriteEntry)],
  "yaml.duplicate-key": [atEntry(removeRepetition)],
  "field.case": [atEntry(renameKey)],
  "field.scalar-for-text": [atEntry(quoteScalar)],
  "field.structure-for-text": [atEntry(writeAsRead)],
  "field.coerced": [atEntry(writeAsRead)],
  "metadata.scalar": [atEntry(quoteMetadata)],
  "name.missing": [addName],
  "tools.list": [atEntry(writeToolLine)],
  "tools.commas": [atEntry(writeToolLine)],
};

/** A fix of the finding's entry. */
function atEntry(fix: (file: FixableFile, entry: YamlEntry) => readonly string[]): Fix {
  return (file, line) => {
    const entry = entryAt(file, line);
    return entry === undefined ? [] : fix(file, entry);
  };
}

// Fixes for the start of the file and the fences of its frontmatter.

/** Removes a byte order mark, spaces and blank lines before the opening fence. */
function trimStart({ lines }: FixableFile): readonly string[] {
  return [lines.join("").replace(/^\s+/, "")];
}

/** `---# Title` → `---`, a blank line, `# Title`. */
function separateFence(file: FixableFile, line: number): readonly string[] {
  const text = bare(file.lines[line - 1] ?? "");
  return text.startsWith("---")
    ? [replaceLines(file, line - 1, 1, ["---", "", text.slice(3).trimStart()])]
    : [];
}

function addBothFences(file: FixableFile, line: number): readonly string[] {
  const keys = file.lines.slice(0, line - 1).join("").length;
  const closed = close(file);
  return [`${closed.slice(0, keys)}---${file.lineEnd}${closed.slice(keys)}`];
}

/** The closing fence goes where the keys ended, before the blank lines there. */
function close(file: FixableFile): string {
  const { body, bodyLine } = file.parsed;
  const end = body === "" ? file.lines.length : bodyLine - 1;
  const last = file.lines.slice(0, end).findLastIndex((line) => line.trim() !== "");
  const isTight = body !== "" && last + 1 === end;
  return replaceLines(file, last + 1, 0, isTight ? ["---", ""] : ["---"]);
}

// Fixes for single keys of the frontmatter. Each proposes texts; `isBetter` decides whether one is safe.

/** Tabs and other whitespace where YAML needs spaces, in the whole frontmatter. */
function spaceBlanks(file: FixableFile): readonly string[] {
  const last = file.entries.at(-1);
  if (last === undefined) return [];
  const count = last.index + linesOf(file, last).length;
  const lines = file.lines.slice(file.yamlStart, file.yamlStart + count);
  const spaced = lines.map((line) =>
    bare(line).replace(/^[ \t\u00a0]+/, (blanks) => blanks.replaceAll("\t", "  ").replaceAll("\u00a0", " ")),
  );
  return [replaceLines(file, file.yamlStart, count, spaced)];
}

/** The entry as it was understood, in valid YAML; not if lines of it were left out or are comments. */
function rewriteEntry(file: FixableFile, entry: YamlEntry): readonly string[] {
  const value = valueRead(file, entry);
  if (value === undefined) return [];
  const below = linesOf(file, entry).slice(1);
  if (below.some((each) => /^\s*#/.test(each)) || hasDroppedLines(file, entry)) return [];
  const isFlow = /^[[{]/.test(entry.value) && typeof value === "object";
  const lines = isFlow ? [`${entry.key}: ${JSON.stringify(value)}`] : writeEntry(entry.key, value);
  return [replaceEntry(file, entry, lines)];
}

/** The value in its field's type. */
function writeAsRead(file: FixableFile, entry: YamlEntry): readonly string[] {
  const field = findManifestField(entry.key);
  if (field === undefined || field.kind === "lists" || hasComment(file, entry)) return [];
  const value = file.manifest[field.property] as Json | undefined;
  return value === undefined ? [] : [replaceEntry(file, entry, writeEntry(entry.key, value))];
}

/** `allowed-tools` as one line with spaces. */
function writeToolLine(file: FixableFile, entry: YamlEntry): readonly string[] {
  const tools = file.manifest.allowedTools?.join(" ");
  return tools && !hasComment(file, entry) ? [replaceEntry(file, entry, writeEntry(entry.key, tools))] : [];
}

/** `version: 1.0` → `version: "1.0"`, as written rather than as read. */
function quoteScalar(file: FixableFile, entry: YamlEntry): readonly string[] {
  const [first = "", ...below] = linesOf(file, entry).map(bare);
  return [replaceEntry(file, entry, [quoteValue(first), ...below])];
}

/** The same under `metadata`. */
function quoteMetadata(file: FixableFile, entry: YamlEntry): readonly string[] {
  const metadata = valueRead(file, entry);
  if (!isJsonObject(metadata)) return [];
  const lines = linesOf(file, entry).map(bare);
  const quoted = lines.map((each) => {
    const name = /^ +([\w.-]+):/.exec(each)?.[1] ?? "";
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return typeof value === "number" || typeof value === "boolean" ? quoteValue(each) : each;
  });
  return [replaceEntry(file, entry, quoted)];
}

/** Removes a key that says the same a second time. */
function removeRepetition(file: FixableFile, entry: YamlEntry): readonly string[] {
  const first = file.entries.find((each) => each.key === entry.key);
  if (first === undefined || first === entry) return [];
  const isSame = linesOf(file, first).map(bare).join("\n") === linesOf(file, entry).map(bare).join("\n");
  return isSame ? [replaceEntry(file, entry, [])] : [];
}

/** `Description:` → `description:`. */
function renameKey(file: FixableFile, entry: YamlEntry): readonly string[] {
  const field = findManifestFieldInAnyCase(entry.key);
  if (field === undefined) return [];
  const [first = "", ...below] = linesOf(file, entry).map(bare);
  return [replaceEntry(file, entry, [first.replace(entry.key, field.name), ...below])];
}

/** The directory's name becomes the first key. */
function addName(file: FixableFile): readonly string[] {
  const line = `name: ${file.manifest.name}`;
  const empty = file.entries.find((entry) => entry.key === "name");
  return [empty ? replaceEntry(file, empty, [line]) : replaceLines(file, file.yamlStart, 0, [line])];
}

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

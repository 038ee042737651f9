/**
 * `metier compat --fix`: rewrites a skill file so that more clients can read it, if nothing is lost: first the repairs
 * of `validate --fix`, then moves Metier's keys to other places that it also reads. A step is kept only if the file
 * still reads as the same skill.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import {
  bare,
  type FixableFile,
  findManifestField,
  fixSkill,
  isSameReading,
  isSpecField,
  linesOf,
  openFile,
  type ParsedSkill,
  parseSkill,
  replaceEntry,
  replaceLines,
  type SkillCandidate,
  type SkillManifest,
  validateSkill,
  writeEntry,
  type YamlEntry,
} from "@metier/skills";

interface Reading {
  readonly text: string;
  readonly parsed: ParsedSkill;
  readonly manifest: SkillManifest;
}

/** `repairs`: what was rewritten, one sentence each. A file without readable frontmatter stays unchanged. */
export async function fixCompat(
  text: string,
  candidate: SkillCandidate,
): Promise<{ readonly text: string; readonly repairs: readonly string[] }> {
  const { text: fixed, fixed: findings } = await fixSkill(text, candidate, "strict");
  const repairs = findings.map(({ code, message }) => `${message} (\`${code}\`)`);
  let reading = await read(fixed, candidate);
  if (candidate.form === "yaml") return { text: fixed, repairs };
  while (reading !== undefined) {
    const step = await takeStep(reading);
    if (step === undefined) return { text: reading.text, repairs };
    repairs.push(step.repair);
    reading = step.reading;
  }
  return { text: fixed, repairs };
}

async function read(text: string, candidate: SkillCandidate): Promise<Reading | undefined> {
  const parsed = await parseSkill(candidate, text);
  const { manifest } = validateSkill(parsed, "lenient");
  return manifest && parsed.frontmatter && { text, parsed, manifest };
}

/** The first step that loses nothing. Each leaves fewer keys at the top, or fewer unusual spellings. */
async function takeStep(
  before: Reading,
): Promise<{ readonly reading: Reading; readonly repair: string } | undefined> {
  const file = openFile(before.text, before.parsed, before.manifest);
  for (const entry of file.entries) {
    for (const { text, repair } of proposeSteps(file, entry)) {
      const reading = await read(text, before.parsed.candidate);
      if (reading && isSameSkill(before, reading)) return { reading, repair };
    }
  }
  return undefined;
}

function* proposeSteps(
  file: FixableFile,
  entry: YamlEntry,
): Iterable<{ readonly text: string; readonly repair: string }> {
  const field = findManifestField(entry.key);
  if (field === undefined) return;
  const lines = linesOf(file, entry).map(bare);
  if (isSpecField(field) && entry.key !== field.name) {
    const [first = "", ...below] = lines;
    const text = replaceEntry(file, entry, [first.replace(entry.key, field.name), ...below]);
    yield { text, repair: `\`${entry.key}\` is now spelled \`${field.name}\`.` };
  }
  const target = field.belongsTo ?? (field.name === "requires" ? "metadata.requires" : undefined);
  const value = target && valueBelowMetadata(field.name, file.manifest);
  if (target === undefined || value === undefined || lines.some((line) => /(?:^|\s)#/.test(line))) return;
  const text = moveBelowMetadata(file, entry, target.slice("metadata.".length), value);
  if (text !== undefined) yield { text, repair: `\`${entry.key}\` is now \`${target}\`.` };
}

/** As one string, as the specification requires there; `undefined` if a string cannot express it. */
function valueBelowMetadata(name: string, manifest: SkillManifest): string | undefined {
  const { version, tags, authors, requires } = manifest;
  if (name === "version") return version;
  if (name === "author") return authors.length === 1 ? authors[0] : undefined;
  const words = name === "tags" ? tags : requires.bins;
  const isPlain = words.length > 0 && words.every((word) => !/[\s,]/.test(word));
  return isPlain ? words.join(" ") : undefined;
}

function moveBelowMetadata(
  file: FixableFile,
  entry: YamlEntry,
  key: string,
  value: string,
): string | undefined {
  const metadata = file.parsed.frontmatter?.metadata ?? null;
  if (metadata !== null && (!isJsonObject(metadata) || Object.hasOwn(metadata, key))) return undefined;
  const written = writeEntry(key, value);
  const home = file.entries.find((each) => each.key === "metadata");
  if (home === undefined) {
    return replaceEntry(file, entry, ["metadata:", ...written.map((line) => `  ${line}`)]);
  }
  const lines = linesOf(file, home).map(bare);
  const indent = /^( +)\S/.exec(lines[1] ?? "")?.[1];
  if (home.value !== "" || indent === undefined) return undefined; // In flow style, or empty.
  const added = [...lines, ...written.map((line) => `${indent}${line}`)];
  const start = (each: YamlEntry): number => file.yamlStart + each.index;
  // The later one first, so that the earlier one keeps its position.
  const edits = [
    { start: start(home), count: lines.length, lines: added },
    { start: start(entry), count: linesOf(file, entry).length, lines: [] },
  ].sort((a, b) => b.start - a.start);
  return edits.reduce(
    (current, edit) =>
      replaceLines({ ...file, lines: splitLines(current) }, edit.start, edit.count, edit.lines),
    file.lines.join(""),
  );
}

function splitLines(text: string): readonly string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

/** Except for what was added under `metadata`. */
function isSameSkill(before: Reading, after: Reading): boolean {
  const { metadata: old, ...rest } = before.manifest;
  const { metadata: now, ...others } = after.manifest;
  const kept = Object.fromEntries(Object.entries(now).filter(([key]) => Object.hasOwn(old, key)));
  return (
    after.parsed.body === before.parsed.body &&
    isSameReading(others, rest) &&
    isSameReading(kept, old) &&
    isSameReading(unknownOf(after), unknownOf(before)) &&
    after.parsed.diagnostics.length <= before.parsed.diagnostics.length
  );
}

function unknownOf({ parsed: { frontmatter = {} } }: Reading): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(frontmatter).filter(([key]) => !findManifestField(key)));
}

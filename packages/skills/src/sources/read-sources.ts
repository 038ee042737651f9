/**
 * Reads the skills of program sources into their own folders (`shelf.ts`). Bounded in time, number and size; a source's
 * mistakes are diagnostics, and if it cannot be asked, its skills stay as last read.
 */

import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { checkContainedPath } from "@metier/base/files";
import { done, type Result, refused } from "@metier/base/result";
import { cleanLine, showValue } from "@metier/base/text";
import { mapBounded } from "@metier/base/turns";
import type { Scope } from "../skill/skill-name.ts";
import type { Shelf, ShelvedFile, ShelvedSkill } from "./shelf.ts";
import { SKILL_FILE } from "./skill-files.ts";
import { type SkillRoot, scopeRank } from "./skill-roots.ts";
import { type SkillSource, type SourceCall, sourceAddress } from "./skill-source.ts";

/** What sources provided: a root for each skill. */
interface SourcedSkills {
  readonly roots: readonly SkillRoot[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Limits for one source. */
export const SHELF_LIMITS = {
  skills: 10_000,
  filesPerSkill: 2_000,
  bytesPerFile: 16 * 1024 * 1024,
  bytesPerSkill: 64 * 1024 * 1024,
  bytes: 512 * 1024 * 1024,
} as const;

const USUAL_TIMEOUT_MS = 60_000;
const MOST_AT_ONCE = 16;
const MOST_ID_BYTES = 1_024;

/** A skill as last read. */
interface KnownSkill extends ShelvedSkill {
  readonly version?: string | undefined;
}

/** By id. */
type Known = ReadonlyMap<string, KnownSkill>;

interface Reading {
  readonly source: SkillSource;
  readonly shelf: Shelf;
  readonly signal: AbortSignal;
  readonly known: Known;
  readonly diagnostics: Diagnostic[];
  bytesLeft: number;
}

interface SourceReader {
  /** Asks every source; `order` is that of the scopes. */
  read(order: readonly Scope[]): Promise<SourcedSkills>;
}

/** Remembers what it read, so that a skill with the same version is not read again. */
export function openSources(sources: readonly SkillSource[], shelf: Shelf): SourceReader {
  const known = new Map<SkillSource, Known>();
  return {
    async read(order) {
      const parts = await Promise.all(
        sources.map(async (source, position) => {
          const diagnostics: Diagnostic[] = [];
          const skills = await readSource(source, known.get(source) ?? new Map(), shelf, diagnostics);
          known.set(source, skills);
          const makeRoot = rootsOf(source, position, order);
          return { roots: [...skills].map(([id, skill]) => makeRoot(id, skill)), diagnostics };
        }),
      );
      return {
        roots: parts.flatMap(({ roots }) => roots),
        diagnostics: parts.flatMap(({ diagnostics }) => diagnostics),
      };
    },
  };
}

/** Among sources of one scope the later one wins. */
function rootsOf(
  { name: source, trust }: SkillSource,
  position: number,
  order: readonly Scope[],
): (id: string, skill: ShelvedSkill) => SkillRoot {
  const isTrusted = trust === "trusted";
  const scope = isTrusted ? "integration" : "custom";
  return (id, { folder, digest }) => ({
    scope,
    path: folder,
    kind: isTrusted ? "own" : "foreign",
    rank: scopeRank(order, scope) + 1 + position,
    explicit: true,
    grantFolder: folder,
    source: { source, id, digest },
  });
}

async function readSource(
  source: SkillSource,
  known: Known,
  shelf: Shelf,
  diagnostics: Diagnostic[],
): Promise<Known> {
  const time = new AbortController();
  // It keeps the process alive: a source that never answers is a diagnostic, not the end of the program.
  const timer = setTimeout(() => time.abort(), source.timeoutMs ?? USUAL_TIMEOUT_MS);
  try {
    const { signal } = time;
    return await readListed({ source, shelf, signal, known, diagnostics, bytesLeft: SHELF_LIMITS.bytes });
  } finally {
    clearTimeout(timer);
  }
}

async function readListed(reading: Reading): Promise<Known> {
  const { source, known } = reading;
  const listed = await ask(reading, (call) => source.list(call));
  if (!listed.ok || !Array.isArray(listed.value)) {
    const why = listed.ok ? "`list` did not return a list" : listed.refusal;
    report(reading, undefined, known.size > 0 ? "source.stale" : "source.failed", why);
    return known;
  }
  const entries = checkEntries(reading, listed.value);
  const skills = await mapBounded(entries, MOST_AT_ONCE, async (entry) => {
    const skill = await readEntry(reading, entry);
    return [entry.id, skill] as const;
  });
  return new Map(skills.filter((pair): pair is readonly [string, KnownSkill] => pair[1] !== undefined));
}

interface CheckedEntry {
  readonly id: string;
  readonly name: string;
  readonly version?: string | undefined;
  readonly files: readonly { readonly path: string; readonly executable: boolean }[];
}

function checkEntries(reading: Reading, listed: readonly unknown[]): readonly CheckedEntry[] {
  if (listed.length > SHELF_LIMITS.skills) {
    const why = `it lists ${listed.length} skills; only the first ${SHELF_LIMITS.skills} are used`;
    report(reading, undefined, "source.limit", why);
  }
  const seen = new Set<string>();
  const entries: CheckedEntry[] = [];
  for (const entry of listed.slice(0, SHELF_LIMITS.skills)) {
    const checked = checkEntry(entry);
    if (!checked.ok) report(reading, undefined, "source.entry", checked.refusal);
    else if (seen.has(checked.value.id)) {
      report(reading, checked.value.id, "source.entry", "two entries have this id; the first one is used");
    } else {
      seen.add(checked.value.id);
      entries.push(checked.value);
    }
  }
  return entries;
}

/** A source may be JavaScript, or contain a stranger's data, so nothing is taken for granted. */
function checkEntry(entry: unknown): Result<CheckedEntry, string> {
  if (typeof entry !== "object" || entry === null) return refused("an entry of its list is not an object");
  const { id, name, files = [], version } = entry as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || id === "" || Buffer.byteLength(id) > MOST_ID_BYTES) {
    return refused("an entry of its list has no `id` string of at most 1,024 bytes");
  }
  const shown = showValue(id);
  const folder = name ?? id.split("/").filter(Boolean).at(-1);
  const checked = checkContainedPath(folder);
  if (!checked.ok || checked.segments.length !== 1) {
    return refused(`the entry ${shown} has no \`name\` that is valid for a folder`);
  }
  if (version !== undefined && typeof version !== "string")
    return refused(`the \`version\` of ${shown} is not a string`);
  if (!Array.isArray(files)) return refused(`\`files\` of ${shown} is not a list`);
  if (files.length >= SHELF_LIMITS.filesPerSkill) {
    return refused(`${shown} has more than ${SHELF_LIMITS.filesPerSkill} files`);
  }
  const paths = new Map<string, boolean>([[SKILL_FILE, false]]);
  for (const file of files) {
    const { path, executable = false } = typeof file === "string" ? { path: file } : (file ?? {});
    const contained = checkContainedPath(path);
    if (!contained.ok) return refused(`a file of ${shown}: ${contained.message}`);
    paths.set(contained.path, executable === true);
  }
  const list = [...paths].map(([path, executable]) => ({ path, executable }));
  return done({ id, name: checked.path, version, files: list });
}

/** As before, if it cannot be read now. */
async function readEntry(reading: Reading, entry: CheckedEntry): Promise<KnownSkill | undefined> {
  const { known, shelf } = reading;
  const before = known.get(entry.id);
  const isHere = before !== undefined && shelf.holds(before);
  if (isHere && entry.version !== undefined && before.version === entry.version) return before;
  const read = await readFiles(reading, entry);
  if (!read.ok) {
    report(reading, entry.id, isHere ? "source.stale" : read.refusal.code, read.refusal.why);
    return isHere ? before : undefined;
  }
  try {
    return { ...shelf.put(entry.name, read.value), version: entry.version };
  } catch (fault) {
    report(reading, entry.id, "source.entry", `its files cannot be written: ${tellFault(fault)}`);
    return isHere ? before : undefined;
  }
}

interface ReadFault {
  readonly code: DiagnosticCode;
  readonly why: string;
}

async function readFiles(
  reading: Reading,
  { id, files }: CheckedEntry,
): Promise<Result<readonly ShelvedFile[], ReadFault>> {
  const { source } = reading;
  const read: ShelvedFile[] = [];
  let bytesLeft: number = SHELF_LIMITS.bytesPerSkill;
  for (const { path, executable } of files) {
    const said = await ask(reading, (call) => source.read(id, path, call));
    const content = said.ok ? toBytes(said.value) : undefined;
    if (content === undefined) {
      const why = said.ok ? "it is neither a string nor bytes" : said.refusal;
      return refused({ code: "source.failed", why: `${showValue(path)}: ${why}` });
    }
    bytesLeft -= content.length;
    reading.bytesLeft -= content.length;
    const limit = tellLimit(content.length, bytesLeft, reading.bytesLeft);
    if (limit) return refused({ code: "source.limit", why: `${showValue(path)}: ${limit}` });
    read.push({ path, executable, bytes: content });
  }
  return done(read);
}

function tellLimit(size: number, leftOfSkill: number, leftOfSource: number): string | undefined {
  const { bytesPerFile, bytesPerSkill, bytes } = SHELF_LIMITS;
  if (size > bytesPerFile) return `it has ${size} bytes; the limit for a file is ${bytesPerFile} bytes`;
  if (leftOfSkill < 0) return `with it the skill has more than ${bytesPerSkill} bytes`;
  return leftOfSource < 0 ? `with it the source has more than ${bytes} bytes` : undefined;
}

function toBytes(content: unknown): Uint8Array | undefined {
  if (typeof content === "string") return Buffer.from(content);
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  // A copy of a view: the program may reuse its buffer.
  return content instanceof Uint8Array ? Uint8Array.from(content) : undefined;
}

/** What the source answers in time. It may throw, reject, or never answer. */
async function ask<Value>(
  { signal }: Reading,
  call: (context: SourceCall) => Value | Promise<Value>,
): Promise<Result<Value, string>> {
  if (signal.aborted) return refused(TOO_LATE);
  let stop = (): void => undefined;
  const late = new Promise<Result<Value, string>>((resolve) => {
    stop = () => resolve(refused(TOO_LATE));
    signal.addEventListener("abort", stop, { once: true });
  });
  const asked = (async () => done(await call({ signal })))().catch((fault: unknown) =>
    refused(tellFault(fault)),
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const TOO_LATE = "it did not answer in time (`timeoutMs`)";
const MOST_SHOWN = 300;

function tellFault(fault: unknown): string {
  const text = cleanLine(fault instanceof Error ? fault.message : String(fault));
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

const HINTS: Partial<Record<DiagnosticCode, string>> = {
  "source.failed": "Fix the source, then call `reload()`.",
  "source.stale": "The last version that was read is used. Fix the source, then call `reload()`.",
  "source.entry": "An entry needs `id`, and may have `name`, `files` and `version`.",
  "source.limit": "Store large files elsewhere, or split the source.",
};

function report(
  { source, diagnostics }: Reading,
  id: string | undefined,
  code: DiagnosticCode,
  why: string,
): void {
  const subject = id === undefined ? "" : `, skill ${showValue(id)}`;
  diagnostics.push({
    code,
    severity: code === "source.stale" ? "warning" : "error",
    path: id === undefined ? `source:${source.name}` : sourceAddress({ source: source.name, id }),
    message: `The source \`${source.name}\`${subject}: ${why}.`.replace(/\.{2}$/, "."),
    hint: HINTS[code],
  });
}

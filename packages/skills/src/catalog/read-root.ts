/** Everything in one root: searched, read, checked. What cannot be loaded becomes diagnostics. */

import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { type BoundedRead, decodeBytes, readBoundedBytes } from "@metier/base/files";
import { isInside, type RealPathOf, rememberRealPaths } from "@metier/base/places";
import { parseHead, parseSkill } from "../parse/parse-skill.ts";
import { type SkillManifest, withAlias } from "../skill/manifest.ts";
import type { BodyFacts, CheckedSkill, ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { FoundCandidate, RootOutcome } from "../sources/search.ts";
import { searchSteps } from "../sources/search-root.ts";
import { type ListedFolder, type ListFolder, readFolderListing } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { stampOf } from "../trust/content-identity.ts";
import { type Profile, severityIn } from "../validate/profiles.ts";
import { validateHead, validateSkill } from "../validate/validate-skill.ts";
import type { FetchedFile } from "./fetched-batch.ts";
import type { SkillIndex } from "./skill-index.ts";

export interface RootContent {
  readonly root: SkillRoot;
  readonly outcome: RootOutcome;
  readonly skills: readonly SoundSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A loadable skill: valid enough under the profile. */
export interface SoundSkill {
  readonly candidate: SkillCandidate;
  /** Real path of the skill file; for a skill defined in code its location, which is `""`. */
  readonly realFile: string;
  readonly manifest: SkillManifest;
  readonly body: BodyFacts;
  readonly diagnostics: readonly Diagnostic[];
}

interface ReadRootOptions {
  readonly profile: Profile;
  readonly nested: boolean;
  readonly knownRoots: ReadonlySet<string>;
  readonly realPathOf?: RealPathOf | undefined;
  readonly index?: SkillIndex | undefined;
  readonly reads?: InstalledReads | undefined;
}

/** The event loop gets a turn after this many files: a server may be waiting. */
const BATCH = 512;

/** Reads a top folder's skills right after it was searched, one after the other. */
export async function readRoot(root: SkillRoot, options: ReadRootOptions): Promise<RootContent> {
  const { nested, knownRoots, realPathOf = rememberRealPaths(), index, reads } = options;
  const refind = (): readonly string[] | undefined => index?.refind(nested);
  const listFolder =
    reads?.listing(root, index?.listFolder ?? readFolderListing, realPathOf) ?? index?.listFolder;
  const steps = searchSteps(root, { knownRoots, realPathOf, nested, listFolder, refind });
  const skills: SoundSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  let number = 0;
  let step = steps.next();
  for (;;) {
    const found = step.done ? step.value.found : step.value;
    for (; number < found.length; number++) {
      if (number % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
      const place = found[number] as FoundCandidate;
      const result = readFound(place, root, options);
      addSkill(root, place, result instanceof Promise ? await result : result, skills, diagnostics);
    }
    if (step.done) break;
    step = steps.next();
  }
  if (index?.isRefound() === false) return readRoot(root, { ...options, index: index.reopen() });
  const { outcome, found, diagnostics: ofSearch } = step.value;
  const isPlain = ofSearch.length === 0 && found.every(({ candidate }) => isInFolder(candidate, root.path));
  index?.save(isPlain ? { found: found.length, nested } : undefined);
  return { root, outcome, skills, diagnostics: [...ofSearch, ...diagnostics] };
}

/** From the index if nothing changed. */
function readFound(
  place: FoundCandidate,
  { locked }: SkillRoot,
  { profile, index, reads }: ReadRootOptions,
): CheckedSkill | Promise<CheckedSkill> {
  const { candidate } = place;
  const recalled = index?.recall(candidate.file);
  if (recalled !== undefined) return recalled;
  const keep = (read: ReadSkill): CheckedSkill => {
    const { checked, stamp } = read;
    if (stamp !== undefined) index?.keep(candidate.file, stamp, checked);
    if (locked) reads?.keep(place, read);
    return checked;
  };
  const known = locked ? undefined : reads?.find(place);
  if (known) return keep(known);
  const fetched = index?.fetched(candidate.file);
  const read = (fetched && checkFetched(candidate, profile, fetched)) ?? readSkill(candidate, profile);
  return read instanceof Promise ? read.then(keep) : keep(read);
}

/** Installed skills as just listed and read: other clients' folders have links to the same files. */
interface InstalledReads {
  /** What lists the folders of a root: `list`, unless a link leads out of it to a folder that is known. */
  listing(root: SkillRoot, list: ListFolder, realPathOf: RealPathOf): ListFolder;
  keep(place: FoundCandidate, read: ReadSkill): void;
  find(place: FoundCandidate): ReadSkill | undefined;
}

/** Without those that have diagnostics, which name the path. */
export function rememberReads(): InstalledReads {
  const reads = new Map<string, { readonly as: SkillCandidate; readonly read: ReadSkill }>();
  const listings = new Map<string, ListedFolder>();
  return {
    listing({ path: root, locked }, list, realPathOf) {
      if (locked) {
        return (path, top, real) => {
          const listing = list(path, top, real);
          listings.set(real, listing);
          return listing;
        };
      }
      return (path, top, real) => {
        const known = top || path === real ? undefined : listings.get(real);
        const isElsewhere = known !== undefined && !isInside(real, realPathOf(root));
        return isElsewhere ? known : list(path, top, real);
      };
    },
    keep({ candidate, realFile }, read) {
      if (read.checked.diagnostics.length === 0) reads.set(realFile, { as: candidate, read });
    },
    find({ candidate: { form, defaultName }, realFile }) {
      const known = reads.get(realFile);
      return known?.as.form === form && known.as.defaultName === defaultName ? known.read : undefined;
    },
  };
}

/** `undefined` if the file must be read again, whole. */
function checkFetched(
  candidate: SkillCandidate,
  profile: Profile,
  { stamp, content }: FetchedFile,
): ReadSkill | Promise<ReadSkill> | undefined {
  if (Buffer.isBuffer(content)) return checkBytes(candidate, profile, { bytes: content, stamp });
  if (profile === "lenient") return undefined;
  const parsed = parseHead(candidate, content);
  return parsed && { checked: validateHead(parsed, content.body, profile), stamp };
}

function addSkill(
  root: SkillRoot,
  { candidate, realFile }: FoundCandidate,
  checked: CheckedSkill,
  skills: SoundSkill[],
  diagnostics: Diagnostic[],
): void {
  if (isNoSkill(candidate, root.path, checked)) return;
  const { manifest, body, diagnostics: ofSkill } = checked;
  if (ofSkill.length > 0) diagnostics.push(...ofSkill);
  if (manifest === undefined) return;
  const named = withAlias(manifest, root.locked?.alias);
  skills.push({ candidate, realFile, manifest: named, body, diagnostics: ofSkill });
}

function isInFolder({ form, directory }: SkillCandidate, root: string): boolean {
  return form === "directory" && directory !== root;
}

/** A flat file without any sign of a skill (a README, a build file) is not one, unless it was named. */
export function isNoSkill(
  { form, file }: SkillCandidate,
  asked: string,
  { diagnostics, body }: CheckedSkill,
): boolean {
  if (form === "directory" || file === asked) return false;
  const has = (code: DiagnosticCode): boolean => diagnostics.some((entry) => entry.code === code);
  if (has("frontmatter.missing")) return true;
  const isMarked =
    !has("name.missing") || !has("description.missing") || (form === "yaml" && body.characters > 0);
  return !isMarked;
}

/** Larger than any skill file; larger files are not read. */
export const MAX_SKILL_BYTES: number = 4 * 1024 * 1024;

interface ReadSkill {
  readonly checked: CheckedSkill;
  /** Of the opened file; absent if it was not opened. */
  readonly stamp?: string | undefined;
}

/**
 * Reads one candidate into a checked skill: reads the whole file once and keeps none of its body. Synchronously if the
 * parser can; `await` handles both. Thousands of promises would cost more than the reading. `check` is `validateSkill`
 * for loading, `inspectSkill` for a full report to the author. `given`: what the file has, if someone knows; then it is not read.
 */
export function readSkill(
  candidate: SkillCandidate,
  profile: Profile,
  check: typeof validateSkill = validateSkill,
  given?: Buffer,
): ReadSkill | Promise<ReadSkill> {
  if (given && given.length <= MAX_SKILL_BYTES)
    return checkBytes(candidate, profile, { bytes: given }, check);
  const read = readBoundedBytes(candidate.file, MAX_SKILL_BYTES);
  if (!read.ok) return { checked: unreadable(candidate.file, read) };
  return checkBytes(candidate, profile, { bytes: read.bytes, stamp: stampOf(read.stats) }, check);
}

function checkBytes(
  candidate: SkillCandidate,
  profile: Profile,
  { bytes, stamp }: { readonly bytes: Buffer; readonly stamp?: string | undefined },
  check: typeof validateSkill = validateSkill,
): ReadSkill | Promise<ReadSkill> {
  const { text, notUtf8 } = decodeBytes(bytes);
  const finish = (parsed: ParsedSkill): ReadSkill => {
    const checked = check(parsed, profile);
    const noted = notUtf8 ? withEncodingNote(checked, candidate.file, profile) : checked;
    return { checked: noted, stamp };
  };
  const parsed = parseSkill(candidate, text);
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
}

function unreadable(path: string, fault: Extract<BoundedRead, { ok: false }>): CheckedSkill {
  const { reason, message, size } = fault;
  const [code, text, hint] =
    reason === "too-large"
      ? ([
          "file.too-large",
          `The file has ${size ?? "too many"} bytes; the limit for a skill file is ${MAX_SKILL_BYTES} bytes.`,
          "Move long material into separate files in the skill's folder.",
        ] as const)
      : (["file.unreadable", message, "Check its permissions, and that it is a regular file."] as const);
  const diagnostic: Diagnostic = { code, severity: "error", path, line: 1, message: text, hint };
  return { diagnostics: [diagnostic], valid: false, body: { lines: 0, characters: 0 } };
}

function withEncodingNote(checked: CheckedSkill, path: string, profile: Profile): CheckedSkill {
  const severity = severityIn(profile, "file.not-utf8");
  if (severity === "off") return checked;
  const diagnostic: Diagnostic = {
    code: "file.not-utf8",
    severity,
    path,
    line: 1,
    message: "The file is not UTF-8; unreadable bytes were replaced.",
    hint: "Save it as UTF-8.",
  };
  const valid = checked.valid && severity !== "error";
  const diagnostics = [...checked.diagnostics, diagnostic];
  if (valid || profile !== "strict") return { ...checked, valid, diagnostics };
  return { ...checked, manifest: undefined, valid, diagnostics }; // `strict` loads only what is valid.
}

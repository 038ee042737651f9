/**
 * The parts of a skill file that matter to other clients, as written and not as Metier reads it; and how a client
 * handles the file: its name and location, fences, YAML and body.
 */
import { basename, dirname, sep } from "node:path";
import type { DiagnosticCode } from "@metier/base/diagnostic";
import { readBounded } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import {
  type BodyMark,
  type Client,
  type Effect,
  KNOWN_CLIENTS,
  MAX_SKILL_BYTES,
  type ParsedSkill,
  parseSkill,
  type SkillCandidate,
  type SkillManifest,
  splitFrontmatter,
  validateSkill,
  type Way,
} from "@metier/skills";

/** What separates a file from two plain fences around keys. */
const BROKEN_FENCES: ReadonlySet<DiagnosticCode> = new Set([
  "file.escaped-line-ends",
  "frontmatter.missing",
  "frontmatter.no-opening",
  "frontmatter.unclosed",
  "frontmatter.stray-fence",
  "frontmatter.code-fence",
  "frontmatter.leading-comment",
  "frontmatter.empty",
  "frontmatter.not-a-mapping",
]);

const FORM_FACTS: readonly {
  /** For the clients that do not accept it. */
  readonly way: Way;
  readonly applies: (subject: CompatSubject) => boolean;
  /** Default: `file`. */
  readonly about?: string;
  readonly message: string;
}[] = [
  {
    way: "trips-over-byte-order-mark",
    applies: ({ text }) => text.startsWith("\ufeff"),
    message: "It starts with a byte order mark, so the frontmatter is not recognized.",
  },
  {
    way: "trips-over-blanks-before",
    applies: ({ text }) => /^\ufeff?[ \t\r\n]+---/.test(text),
    message: "There is text before the first `---`, so the frontmatter is not recognized.",
  },
  {
    way: "trips-over-carriage-returns",
    applies: ({ text }) => text.includes("\r"),
    message: "Its lines end in CR LF, so the frontmatter is not recognized.",
  },
  {
    way: "trips-over-fence-in-value",
    applies: ({ yaml }) => yaml.includes("---"),
    message: "A value contains `---`, and the frontmatter is cut off there.",
  },
  {
    way: "repairs-no-yaml",
    applies: ({ parsed }) =>
      parsed.diagnostics.some(({ code }) => code.startsWith("yaml.") && code !== "yaml.duplicate-key"),
    message: "The frontmatter is not valid YAML, and this client does not repair it.",
  },
  {
    way: "takes-no-flow-style",
    applies: ({ yaml }) => /^\s*(?:-\s+)?[\w.-]+:\s+[[{]|^\s*-\s+[[{]/m.test(yaml),
    message: "A value is in flow style (`[a, b]` or `{…}`), which the validator reports as an error.",
  },
  {
    way: "takes-no-block-description",
    applies: ({ yaml }) => /^description:\s*[|>][-+\d]*\s*$/m.test(yaml),
    about: "description",
    message: "It is a block; only its marker (`|` or `>`) is read.",
  },
];

export function checkFile(subject: CompatSubject, client: CompatClient): readonly Remark[] {
  const hasBrokenFences = subject.parsed.diagnostics.some(({ code }) => BROKEN_FENCES.has(code));
  const facts = FORM_FACTS.filter(({ way, applies }) => hasWay(client, way) && applies(subject));
  return [
    ...checkFileName(subject, client),
    ...(hasBrokenFences && !hasWay(client, "needs-no-frontmatter")
      ? [breaks("file", "It does not start with keys between two `---` lines.")]
      : []),
    ...facts.map(({ about = "file", message }) => breaks(about, message)),
  ];
}

function checkFileName({ candidate }: CompatSubject, client: CompatClient): readonly Remark[] {
  const { form, file } = candidate;
  if (form === "yaml") {
    return hasWay(client, "yaml-files")
      ? []
      : [breaks("file", "It is a YAML file; this client reads only Markdown.")];
  }
  if (form === "markdown") {
    return hasWay(client, "flat-files")
      ? []
      : [breaks("file", "It is a single file; this client finds only a folder with a `SKILL.md`.")];
  }
  const name = basename(file);
  const isRead =
    name === "SKILL.md" ||
    hasWay(client, "any-case-name") ||
    (name === "skill.md" && hasWay(client, "lower-case-name"));
  return isRead ? [] : [breaks("file", `It is named \`${name}\`; this client finds only \`SKILL.md\`.`)];
}

const MARKS: readonly (readonly [mark: BodyMark, pattern: RegExp, words: string])[] = [
  ["arguments", /(?<!\\)\$ARGUMENTS\b/, "`$ARGUMENTS`"],
  ["claude-folder", /(?<!\\)\$\{CLAUDE_SKILL_DIR\}/, `\`\${CLAUDE_SKILL_DIR}\``],
  ["metier-folder", /(?<!\\)\$\{METIER_SKILL_DIR\}/, `\`\${METIER_SKILL_DIR}\``],
  ["command", /(?:^|\s)!`[^`\n]+`/m, "`` !`command` ``"],
];

/** How much of the instructions it keeps, and which placeholders it replaces. */
export function checkBody({ parsed: { body } }: CompatSubject, { reading }: CompatClient): readonly Remark[] {
  const { body: rule, replaces = [] } = reading;
  const size = rule && body.length > rule.characters ? [remark(rule.effect, "body", rule.message)] : [];
  if (replaces === false) return size;
  const left = MARKS.filter(([mark, pattern]) => !replaces.includes(mark) && pattern.test(body));
  if (left.length === 0) return size;
  const marks = left.map(([, , words]) => words).join(", ");
  return [...size, note("body", `${marks} is not replaced and stays in the text.`)];
}

let projectFolders: ReadonlySet<string> | undefined;

function knownFolders(): ReadonlySet<string> {
  projectFolders ??= new Set(
    KNOWN_CLIENTS.flatMap((client) => [
      ...(client.reading ? foldersInProject(client) : []),
      ...(client.folders ? [client.folders.project] : []),
    ]),
  );
  return projectFolders;
}

/** Says nothing about a skill where no client looks: that is where its author works. */
export function checkFolder({ candidate }: CompatSubject, client: CompatClient): readonly Remark[] {
  const folders = foldersInProject(client);
  const parent = dirname(candidate.form === "directory" ? candidate.directory : candidate.file)
    .split(sep)
    .join("/");
  const found = [...knownFolders()].find((folder) => parent.endsWith(`/${folder}`));
  if (folders.length === 0 || found === undefined || folders.includes(found)) return [];
  const wanted = folders.map((each) => `\`${each}\``).join(", ");
  return [note("folder", `It is in \`${found}\`, but this client looks in ${wanted}.`)];
}

/** A client whose reader is known. */
export type CompatClient = Client & { readonly reading: NonNullable<Client["reading"]> };

export function isReader(client: Client): client is CompatClient {
  return client.reading !== undefined;
}

export const COMPAT_CLIENTS: readonly CompatClient[] = KNOWN_CLIENTS.filter(isReader);

export function hasWay({ reading }: CompatClient, way: Way): boolean {
  return reading.ways?.includes(way) ?? false;
}

export function isHonoured({ reading }: CompatClient, key: string): boolean {
  return reading.keys.includes(key);
}

/** Where it looks in a project; empty if unknown. */
function foldersInProject({ reading, layout }: Client): readonly string[] {
  return reading?.projectFolders ?? layout?.projectDirs ?? [];
}

export interface CompatSubject {
  readonly candidate: SkillCandidate;
  /** The file as it stands. */
  readonly text: string;
  /** Between the fences, without them. */
  readonly yaml: string;
  readonly parsed: ParsedSkill;
  /** As Metier reads it; absent if it cannot be read at all. */
  readonly manifest: SkillManifest | undefined;
  /** Keys and values as written. */
  readonly fields: Readonly<Record<string, Json>>;
}

/** How one client handles something in the file. */
export interface Remark {
  readonly effect: Effect;
  /** The key as written, or another subject: `file`, `body`, `folder`. */
  readonly about: string;
  /** A sentence that starts with a capital letter. */
  readonly message: string;
}

export async function readSubject(candidate: SkillCandidate): Promise<Result<CompatSubject>> {
  const read = readBounded(candidate.file, MAX_SKILL_BYTES);
  if (!read.ok) return refused({ message: read.message });
  const { text } = read;
  const parsed = await parseSkill(candidate, text);
  const { manifest } = validateSkill(parsed, "lenient");
  const yaml = candidate.form === "yaml" ? text : (splitFrontmatter(text).yaml ?? "");
  return done({ candidate, text, yaml, parsed, manifest, fields: parsed.frontmatter ?? {} });
}

export function remark(effect: Effect, about: string, message: string): Remark {
  return { effect, about, message };
}

export function breaks(about: string, message: string): Remark {
  return remark("breaks", about, message);
}

export function note(about: string, message: string): Remark {
  return remark("note", about, message);
}

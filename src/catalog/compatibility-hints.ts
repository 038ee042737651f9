/**
 * What the free text of `compatibility` asks for and this machine clearly lacks. Text for people is guessed at, so
 * the answer is a hint and never decides; doubtful wording gives none. Linear in the text, which is clipped.
 */
import { realpathSync } from "node:fs";
import type { CommandFinder } from "../host/find-command.ts";
import { normalisePlatform } from "./normalise-platform.ts";

export interface CompatibilityContext {
  readonly findCommand: CommandFinder;
  readonly platform: NodeJS.Platform;
  /** The Node that would run the skill's scripts: the one that runs Metier. */
  readonly nodeVersion?: string;
}

const MAX_CHARACTERS = 2_000;

/** Words that name a command; those with another everyday meaning (`make`, `go`) are left out. */
const COMMAND_WORDS: ReadonlySet<string> = new Set(
  `bun cargo curl deno docker ffmpeg gh git helm imagemagick jq kubectl libreoffice npm npx pandoc pdftotext
  pip pnpm psql python python3 ruby sqlite3 terraform tesseract uv uvx wget`.split(/\s+/),
);
/** Words that are not the command's own name, or have several commands of which one is enough. */
const COMMANDS_FOR: ReadonlyMap<string, readonly string[]> = new Map([
  ["imagemagick", ["magick", "convert"]],
  ["libreoffice", ["libreoffice", "soffice"]],
  ["pip", ["pip", "pip3"]],
  ["python", ["python3", "python"]],
  ["python3", ["python3", "python"]],
]);

const REQUIRES = /\b(?:requires?|required|needs?|must have)\b/;
/** Wording that makes a requirement an alternative, a condition or a negation. */
const SOFTENS =
  /\b(?:or|either|if|unless|optional|optionally|recommended|suggested|not|no|without|can|may)\b/;
/** `18 or later`: the one "or" that offers no alternative. */
const OR_LATER = / or (?:later|newer|higher|above|greater)\b/g;

const SYSTEM = "(?:macos|mac os x|mac os|osx|os x|darwin|windows|linux)";
const SYSTEMS = `(${SYSTEM}(?:(?:, or |, and |, | or | and |/)${SYSTEM})*)\\b`;
const SYSTEM_PHRASES: readonly RegExp[] = [
  new RegExp(`\\b${SYSTEMS}[ -]only\\b`),
  new RegExp(`\\bonly (?:works |runs |available |supported )?(?:on|for) ${SYSTEMS}`),
  new RegExp(`\\b(?:requires?|needs?) ${SYSTEMS}`),
];

const NODE_VERSION = /\bnode(?:\.?js)? ?(?:version )?(?:>=|≥)? ?v?(\d{1,3})(?:\.(\d{1,3}))?/;
const PYTHON_VERSION = /\bpython ?(?:version )?(?:>=|≥)? ?(\d)\.(\d{1,2})/;

export function compatibilityHints(text: string, context: CompatibilityContext): readonly string[] {
  const plain = text.slice(0, MAX_CHARACTERS).toLowerCase().replace(/\s+/g, " ").replace(OR_LATER, "+");
  return [
    ...systemHints(plain, context.platform),
    ...nodeHints(plain, context.nodeVersion ?? process.versions.node),
    ...pythonHints(plain, context.findCommand),
    ...commandHints(plain, context.findCommand),
  ];
}

function systemHints(text: string, platform: string): readonly string[] {
  for (const phrase of SYSTEM_PHRASES) {
    const named = phrase.exec(text)?.[1];
    if (named === undefined) continue;
    const systems = named.match(new RegExp(SYSTEM, "g")) ?? [];
    if (systems.some((system) => normalisePlatform(system) === platform)) return [];
    return [`\`compatibility\` names ${named}; this is ${platform}`];
  }
  return [];
}

function nodeHints(text: string, nodeVersion: string): readonly string[] {
  const wanted = readVersion(NODE_VERSION.exec(text));
  const present = readVersion(/^v?(\d+)\.(\d+)/.exec(nodeVersion));
  if (!wanted || !present || !isOlder(present, wanted)) return [];
  return [`\`compatibility\` names Node ${wanted.join(".")}; this is ${nodeVersion}`];
}

/** `python3` is usually a link to `python3.11`: its name tells the version without running it. */
function pythonHints(text: string, findCommand: CommandFinder): readonly string[] {
  const wanted = readVersion(PYTHON_VERSION.exec(text));
  const command = wanted && findCommand("python3");
  if (!command || findCommand(`python${wanted.join(".")}`) !== undefined) return [];
  const present = readVersion(/python(\d)\.(\d+)$/.exec(linkTarget(command)));
  if (!present || !isOlder(present, wanted)) return [];
  return [`\`compatibility\` names Python ${wanted.join(".")}; \`python3\` is ${present.join(".")}`];
}

function linkTarget(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Gone since it was found; its own name then tells no version.
  }
}

function commandHints(text: string, findCommand: CommandFinder): readonly string[] {
  const missing = new Set<string>();
  for (const sentence of text.split(/[.;](?: |$)/)) {
    if (!REQUIRES.test(sentence) || SOFTENS.test(sentence)) continue;
    for (const word of sentence.match(/[a-z][a-z0-9_-]*/g) ?? []) {
      if (COMMAND_WORDS.has(word) && isMissing(word, findCommand)) missing.add(word);
    }
  }
  return [...missing].map((word) => `\`compatibility\` names \`${word}\`, which is not on PATH`);
}

function isMissing(word: string, findCommand: CommandFinder): boolean {
  return (COMMANDS_FOR.get(word) ?? [word]).every((command) => findCommand(command) === undefined);
}

type Version = readonly [major: number, minor: number];

function readVersion(match: RegExpExecArray | null): Version | undefined {
  return match ? [Number(match[1]), Number(match[2] ?? 0)] : undefined;
}

function isOlder(present: Version, wanted: Version): boolean {
  return present[0] < wanted[0] || (present[0] === wanted[0] && present[1] < wanted[1]);
}

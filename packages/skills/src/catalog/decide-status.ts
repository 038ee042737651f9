/**
 * The status of a skill that won its name: disabled by configuration, unavailable on this machine, or enabled. Runs
 * nothing, and the finder looks up each command once.
 */

import { realpathSync } from "node:fs";
import { type CommandFinder, createCommandFinder, type Environment } from "@metier/base/programs";
import { forReader, type NameMatcher, nameMatcher } from "@metier/base/text";
import type { Config, EnvironmentValue, SkillsConfig } from "../config/config.ts";
import { pluginName } from "../config/skill-fields.ts";
import { skillVariables } from "../config/skill-settings.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { SkillStatus } from "../skill/skill.ts";
import type { Scope } from "../skill/skill-name.ts";
import { MANIFEST_DEFAULTS } from "../validate/build-manifest.ts";
import type { PlacedSkill } from "./place-skills.ts";

interface StatusDecision {
  readonly status: SkillStatus;
  readonly reason?: string;
  /** What the free text of `compatibility` suggests is missing: a note that decides nothing. */
  readonly hints: readonly string[];
}

/** The usual case: one shared decision. */
const ENABLED: StatusDecision = Object.freeze({ status: "enabled", hints: Object.freeze([]) });

export type DecideStatus = (skill: PlacedSkill) => StatusDecision;

/** Commands are looked up once per name for all skills. */
export function statusDecider(config: Config, environment: Environment): DecideStatus {
  const disabledReason = enablementOf(config.skills);
  const findCommand = createCommandFinder(environment);
  const check = (manifest: SkillManifest): Availability =>
    checkAvailability(manifest, {
      findCommand,
      environment,
      platform: process.platform,
      settingsEnv: skillVariables(config, manifest.name),
    });
  /** For skills without requirements, keyed by the text of `compatibility`: only that matters, and many share it. */
  const undemanding = new Map<string | undefined, Availability>();
  const availabilityOf = (manifest: SkillManifest): Availability => {
    if (manifest.requires !== MANIFEST_DEFAULTS.requires) return check(manifest);
    const known = undemanding.get(manifest.compatibility) ?? check(manifest);
    undemanding.set(manifest.compatibility, known);
    return known;
  };
  return (skill) => {
    const disabled = disabledReason(skill);
    if (disabled !== undefined) return { status: "disabled", reason: disabled, hints: [] };
    const outcome = availabilityOf(skill.manifest);
    if (outcome === AVAILABLE) return ENABLED;
    const { hints } = outcome;
    return outcome.available
      ? { status: "enabled", hints }
      : { status: "unavailable", reason: outcome.reason, hints };
  };
}

/** What the answer depends on. A placed skill has it. */
interface EnablementSubject {
  readonly manifest: Pick<SkillManifest, "name" | "optIn">;
  readonly root: { readonly scope: Scope };
}

/** Whether the configuration allows a skill: returns the reason it is disabled, or nothing. */
export function enablementOf(config: SkillsConfig): (skill: EnablementSubject) => string | undefined {
  const disabled = nameMatcher(config.disabled);
  const deny = nameMatcher(config.deny);
  const allowLists = [config.allow, ...config.allowWithin].filter((list) => list.length > 0);
  const allow = allowLists.map(nameMatcher);
  const pluginsOff = new Set(config.plugins.filter(({ enabled }) => !enabled).map(pluginName));
  const lists = [config.disabled, config.deny, ...allowLists, config.plugins, Object.keys(config.settings)];
  const hasNone = lists.every((list) => list.length === 0);
  return (skill) => {
    const { name, optIn } = skill.manifest;
    // A configuration names hardly one of thousands of skills, and most name none.
    if (hasNone && !optIn && skill.root.scope !== "bundled") return undefined;
    const enabled = config.settings[name]?.enabled;
    if (enabled === false) return `disabled by \`enabled = false\` under \`[skills.${name}]\``;
    return (
      listed(disabled, name, "disabled", "skills.disabled") ??
      bundledReason(skill, config) ??
      pluginReason(skill, pluginsOff) ??
      listed(deny, name, "denied", "skills.deny") ??
      (allow.every((matches) => matches(name)) ? undefined : "not listed in `skills.allow`") ??
      (optIn && enabled !== true
        ? `opt-in: set \`enabled = true\` under \`[skills.${name}]\` (${forReader({ command: `\`metier enable ${name}\``, program: "or in the `config` option" })})`
        : undefined)
    );
  };
}

function listed(match: NameMatcher, name: string, word: string, key: string): string | undefined {
  const pattern = match(name);
  return pattern === undefined ? undefined : `${word} by \`${pattern}\` in \`${key}\``;
}

function bundledReason({ root, manifest }: EnablementSubject, config: SkillsConfig): string | undefined {
  if (root.scope !== "bundled") return undefined;
  const { disabledBundled, enabledBundled } = config;
  if (disabledBundled.includes(manifest.name)) return "disabled by `skills.disabled-bundled`";
  const isLeftOut = enabledBundled.length > 0 && !enabledBundled.includes(manifest.name);
  return isLeftOut ? "not listed in `skills.enabled-bundled`" : undefined;
}

function pluginReason({ root, manifest }: EnablementSubject, off: ReadonlySet<string>): string | undefined {
  if (root.scope !== "installed" || !off.has(manifest.name)) return undefined;
  return "disabled by its entry in `skills.plugins`";
}

export interface AvailabilityContext {
  readonly findCommand: CommandFinder;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** The skill's UPPER_CASE values in the config. */
  readonly settingsEnv?: Readonly<Record<string, EnvironmentValue>>;
}

type Availability =
  | { readonly available: true; readonly hints: readonly string[] }
  | { readonly available: false; readonly reason: string; readonly hints: readonly string[] };

const AVAILABLE: Availability = { available: true, hints: [] };

/**
 * Whether it can be used on this machine. Declared requirements decide; the free text of `compatibility` only gives
 * hints.
 */
export function checkAvailability(
  manifest: Pick<SkillManifest, "requires" | "compatibility">,
  context: AvailabilityContext,
): Availability {
  const { bins, anyBins, env, os } = manifest.requires;
  const reasons: string[] = [];
  const isMissing = (name: string): boolean => context.findCommand(name) === undefined;

  const missing = unique(bins).filter(isMissing);
  if (missing.length > 0) reasons.push(`missing commands: ${missing.join(", ")}`);

  const choices = unique(anyBins);
  if (choices.length > 0 && choices.every(isMissing)) reasons.push(`needs one of: ${choices.join(", ")}`);

  const unset = unique(env).filter((name) => !isSet(name, context));
  if (unset.length > 0) reasons.push(`missing environment: ${unset.join(", ")}`);

  const platforms = unique(os.map(normalisePlatform));
  if (platforms.length > 0 && !platforms.includes(context.platform)) {
    reasons.push(`not for ${context.platform} (needs ${platforms.join(" or ")})`);
  }

  const hints = manifest.compatibility ? compatibilityHints(manifest.compatibility, context) : [];
  if (reasons.length > 0) return { available: false, reason: reasons.join("; "), hints };
  return hints.length > 0 ? { available: true, hints } : AVAILABLE;
}

/** An empty value counts as unset, as in most programs that look for a key. */
function isSet(name: string, { environment, settingsEnv = {} }: AvailabilityContext): boolean {
  const own = Object.hasOwn(settingsEnv, name) ? settingsEnv[name] : undefined;
  const configured = own && (!("value" in own) || own.value !== "");
  const inherited = Object.hasOwn(environment, name) && environment[name];
  return Boolean(configured || inherited);
}

/** Without blank entries and duplicates, in order. */
function unique(names: readonly string[]): readonly string[] {
  if (names.length === 0) return names;
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
}

const MAX_CHARACTERS = 2_000;

// What the free text of `compatibility` asks for and this machine clearly lacks. This guesses from prose, so the answer
// is a hint and never decides; doubtful wording gives none. Linear in the text, which is truncated.

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

const SYSTEM_NAMES = ["macos", "mac os x", "mac os", "osx", "os x", "darwin", "windows", "linux"];
const SYSTEM = `(?:${SYSTEM_NAMES.join("|")})`;
const SYSTEMS = `(${SYSTEM}(?:(?:, or |, and |, | or | and |/)${SYSTEM})*)\\b`;
const SYSTEM_PHRASES: readonly string[] = [
  `\\b${SYSTEMS}[ -]only\\b`,
  `\\bonly (?:works |runs |available |supported )?(?:on|for) ${SYSTEMS}`,
  `\\b(?:requires?|needs?) ${SYSTEMS}`,
];

const NODE_VERSION = /\bnode(?:\.?js)? ?(?:version )?(?:>=|≥)? ?v?(\d{1,3})(?:\.(\d{1,3}))?/;
const PYTHON_VERSION = /\bpython ?(?:version )?(?:>=|≥)? ?(\d)\.(\d{1,2})/;

function compatibilityHints(text: string, { platform, findCommand }: AvailabilityContext): readonly string[] {
  const plain = text.slice(0, MAX_CHARACTERS).toLowerCase().replace(/\s+/g, " ").replace(OR_LATER, "+");
  return [
    ...systemHints(plain, platform),
    ...nodeHints(plain),
    ...pythonHints(plain, findCommand),
    ...commandHints(plain, findCommand),
  ];
}

function systemHints(text: string, platform: string): readonly string[] {
  if (!SYSTEM_NAMES.some((name) => text.includes(name))) return []; // Compiling the phrases takes a millisecond.
  for (const phrase of SYSTEM_PHRASES) {
    const named = new RegExp(phrase).exec(text)?.[1];
    if (named === undefined) continue;
    const systems = named.match(new RegExp(SYSTEM, "g")) ?? [];
    if (systems.some((system) => normalisePlatform(system) === platform)) return [];
    return [`\`compatibility\` names ${named}; this is ${platform}`];
  }
  return [];
}

/** The Node that would run the skill's scripts is the one that runs Metier. */
function nodeHints(text: string): readonly string[] {
  const wanted = text.includes("node") ? readVersion(NODE_VERSION.exec(text)) : undefined;
  const present = readVersion(/^v?(\d+)\.(\d+)/.exec(process.versions.node));
  if (!wanted || !present || !isOlder(present, wanted)) return [];
  return [`\`compatibility\` names Node ${wanted.join(".")}; this is ${process.versions.node}`];
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
    return path; // Gone since it was found; its name then tells no version.
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

/** Common names of operating systems → their `process.platform` name. */
const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ...["macos", "mac os", "mac os x", "mac", "osx", "os x"].map((name) => [name, "darwin"] as const),
  ...["windows", "win", "win64"].map((name) => [name, "win32"] as const),
  ["gnu/linux", "linux"],
]);

/** An unknown name stays as it is, in lowercase: it matches only a platform of that exact name. */
function normalisePlatform(name: string): string {
  const key = name.trim().toLowerCase();
  return PLATFORMS.get(key) ?? key;
}

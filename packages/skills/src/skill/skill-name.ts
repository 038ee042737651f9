/**
 * Skill names: their grammar (lowercase letters and digits of any script, single hyphens between them, at most 64
 * characters, compared in NFKC form), the scopes they come from, and addresses of both.
 */
import { nearestNames } from "@metier/base/text";

export const MAX_NAME_LENGTH = 64;

/** For the JSON Schema: the grammar without the length, with letters that have no uppercase. */
export const SKILL_NAME_PATTERN = "^[\\p{Ll}\\p{Lo}\\p{Lm}\\p{N}]+(?:-[\\p{Ll}\\p{Lo}\\p{Lm}\\p{N}]+)*$";

const PLAIN_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether the name, in NFKC form, matches the grammar. */
export function isSkillName(name: string): boolean {
  if (name.length <= MAX_NAME_LENGTH && PLAIN_NAME.test(name)) return true;
  const normal = name.normalize("NFKC");
  return (
    /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u.test(normal) &&
    normal === normal.toLowerCase() &&
    [...normal].length <= MAX_NAME_LENGTH
  );
}

/** Whether the name has only `a`–`z`, `0`–`9` and hyphens, which is all that some clients accept. */
export function isPlainSkillName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/** The nearest valid name: `PDF Processing` → `pdf-processing`. `""` if nothing remains. */
export function normaliseSkillName(name: string): string {
  const lower = name.normalize("NFKC").toLowerCase().normalize("NFKC");
  const hyphenated = lower.replace(/\p{M}+/gu, "").replace(/[^\p{L}\p{N}]+/gu, "-");
  return [...hyphenated.replace(/^-/, "")].slice(0, MAX_NAME_LENGTH).join("").replace(/-$/, "");
}

/** Why a name is not valid, in words; empty if it is. */
export function skillNameFaults(name: string): readonly string[] {
  const normal = name.normalize("NFKC");
  const characters = [...normal];
  const foreign = [...new Set(characters.filter((character) => !/^[\p{L}\p{N}-]$/u.test(character)))];
  const faults: string[] = [];
  if (normal === "") faults.push("is empty");
  if (characters.length > MAX_NAME_LENGTH) faults.push(`has ${characters.length} characters`);
  if (normal !== normal.toLowerCase()) faults.push("contains capital letters");
  if (foreign.length > 0) faults.push(`contains ${foreign.slice(0, 5).map(showCharacter).join(", ")}`);
  if (normal.startsWith("-") || normal.endsWith("-")) faults.push("starts or ends with a hyphen");
  if (normal.includes("--")) faults.push("has two hyphens in a row");
  return faults;
}

function showCharacter(character: string): string {
  if (character === " ") return "spaces";
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)) return `\`${character}\``;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Where a skill comes from, and the default order in which scopes override each other (lowest first). */
export const SCOPES = ["remote", "bundled", "integration", "installed", "custom", "user", "project"] as const;

/** Where a skill comes from, such as `project` or `installed`; `SCOPES` has the default precedence, lowest first. */
export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** `project:deploy` → scope and name; `deploy` → only the name. */
export function parseSkillAddress(address: string): { readonly scope?: Scope; readonly name: string } {
  const colon = address.indexOf(":");
  const scope = address.slice(0, Math.max(colon, 0));
  return isScope(scope) ? { scope, name: address.slice(colon + 1) } : { name: address };
}

// A skill of an MCP server is called `<label>:<name>` here. No other skill name has a colon, so it never takes
// another's name, and readers see where the skill comes from.

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** What may precede the colon. A scope there means something else. */
export function isServerLabel(text: string): boolean {
  return LABEL.test(text) && !isScope(text);
}

export function remoteName(server: string, name: string): string {
  return `${server}:${name}`;
}

/** The server's label, for a skill that comes from one. */
export function serverOf(name: string): string | undefined {
  const colon = name.indexOf(":");
  return colon < 0 ? undefined : name.slice(0, colon);
}

/** Which skills an unknown name may mean: those that servers offer under it, otherwise those with similar names. */
export function nearSkills(asked: string, names: readonly string[]): readonly string[] {
  const ofServers = names.filter((name) => name.endsWith(`:${asked}`));
  return ofServers.length > 0 ? ofServers : nearestNames(asked, names);
}

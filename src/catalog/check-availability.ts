/**
 * Can a skill be used on this machine? Declared requirements decide; the free text of `compatibility` only gives
 * hints. Nothing is run, and each command is looked up once, by the finder.
 */
import type { EnvironmentValue } from "../config/config.ts";
import type { CommandFinder, Environment } from "../host/find-command.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { compatibilityHints } from "./compatibility-hints.ts";
import { normalisePlatform } from "./normalise-platform.ts";

export interface AvailabilityContext {
  readonly findCommand: CommandFinder;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** The UPPER_CASE values that the config has for this skill. */
  readonly settingsEnv?: Readonly<Record<string, EnvironmentValue>>;
}

export type Availability =
  | { readonly available: true; readonly hints: readonly string[] }
  | { readonly available: false; readonly reason: string; readonly hints: readonly string[] };

const AVAILABLE: Availability = { available: true, hints: [] };

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

/** An empty value counts as none, as it does for most programs that look for a key. */
function isSet(name: string, { environment, settingsEnv = {} }: AvailabilityContext): boolean {
  const own = Object.hasOwn(settingsEnv, name) ? settingsEnv[name] : undefined;
  const configured = own && (!("value" in own) || own.value !== "");
  const inherited = Object.hasOwn(environment, name) && environment[name];
  return Boolean(configured || inherited);
}

/** Without blank entries and repetitions, order kept. */
function unique(names: readonly string[]): readonly string[] {
  if (names.length === 0) return names;
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
}

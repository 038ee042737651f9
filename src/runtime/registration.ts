/** Skills that are registered one by one: what a registration turned out to be, and why it may be refused. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Catalog } from "../catalog/catalog.ts";
import { type GivenSkill, kindOf, placeGiven } from "../catalog/given-skills.ts";
import { searchOptions } from "../catalog/validate-paths.ts";
import type { LoadedConfig } from "../config/config.ts";
import {
  SkillConflictError,
  SkillError,
  SkillLoadError,
  SkillNotFoundError,
  SkillValidationError,
  UsageError,
} from "../foundation/errors.ts";
import { expandPath, isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill } from "../skill/skill.ts";
import { scanRoot } from "../sources/scan-root.ts";
import type { Profile } from "../validate/profiles.ts";
import type { MetierState } from "./load-state.ts";
import type { Registration } from "./wanted.ts";

/** What a program names a skill by, as an absolute path or an object. */
export function toRegistration(skill: unknown, home: string, cwd: string): Registration {
  const path = skill instanceof URL ? toPath(skill) : skill;
  if (typeof path === "string" && path.trim() !== "") return expandPath(path, home, cwd);
  if (typeof path === "object" && path !== null) return path as Registration;
  throw new UsageError(`A skill is named by a path, a \`file:\` URL or an object; this is ${kindOf(path)}.`);
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new UsageError(`\`${url}\` is not the URL of a file.`, {
      cause,
      hint: "Use a path or a `file:` URL.",
    });
  }
}

/** Throws for a path below which lies a file that is in the catalog already, by whatever path. */
export function refuseKnown({ catalog, roots, config }: MetierState, registration: Registration): void {
  if (typeof registration !== "string") return;
  const knownRoots = roots.map(({ path }) => realPathOr(path));
  const [root, options] = searchOptions(registration, knownRoots);
  const { found } = scanRoot(root, { ...options, nested: config.config.skills.nested });
  const files = new Set(found.map(({ realFile }) => realFile));
  const known = catalog.all.find(({ location }) => location !== "" && files.has(realPathOr(location)));
  if (known === undefined) return;
  throw new SkillConflictError(known.name, [known.location, registration], {
    hint: "It is in the catalog already.",
  });
}

/** Throws what a caller of `register` must know; answers with the skill when all is well. */
export function requireRegistered(
  { catalog, config }: Pick<MetierState, "catalog" | "config">,
  registration: Registration,
  profile: Profile,
): Skill {
  const [skill] = skillsBroughtBy(registration, catalog);
  if (skill === undefined) {
    throw typeof registration === "string"
      ? (policyRefusal(config, registration) ?? pathRefusal(catalog, registration))
      : objectRefusal(registration, profile);
  }
  const others = catalog.all.filter(
    (other) => other !== skill && other.name === skill.name && other.scope === skill.scope,
  );
  if (others.length > 0) {
    throw new SkillConflictError(
      skill.name,
      [skill, ...others].map(({ location }) => location || "given as an object"),
    );
  }
  return skill;
}

/** Whether a registration stands behind this name. A folder that another source took over still does for what is in it. */
export function isRegisteredAs(name: string, registration: Registration, catalog: Catalog): boolean {
  const brought = skillsBroughtBy(registration, catalog);
  const below = isWithin(registration);
  const skills = brought.length > 0 ? brought : catalog.all.filter(({ location }) => below(location));
  return skills.some((skill) => skill.name === name);
}

/** One, unless it is a folder of several. */
function skillsBroughtBy(registration: Registration, { all }: Catalog): readonly Skill[] {
  if (typeof registration === "string") {
    const below = isWithin(registration);
    return all.filter(({ scope, root }) => scope === "custom" && below(root));
  }
  const [given] = placeGiven([registration], { profile: "lenient", integrationRank: 0 }).placed;
  return all.filter(({ location, name }) => location === "" && name === given?.manifest.name);
}

/** By the path as registered, or as the policy narrows it: to real paths. */
function isWithin(registration: Registration): (path: string) => boolean {
  if (typeof registration !== "string") return () => false;
  const real = realPathOr(registration);
  return (path) => isInside(path, registration) || isInside(path, real);
}

function policyRefusal({ diagnostics }: LoadedConfig, path: string): Error | undefined {
  const dropped = diagnostics.find(
    (entry) => entry.code === "config.policy-drops-path" && entry.path === path,
  );
  return dropped && new SkillError(dropped.message, "skill.error", { hint: dropped.hint });
}

/** Why a path brings no skill. */
export function pathRefusal({ diagnostics }: Catalog, path: string): Error {
  const name = basename(path);
  if (!existsSync(path)) return new SkillNotFoundError(name, path);
  const errors = diagnostics.filter((entry) => entry.severity === "error" && isInside(entry.path, path));
  const unreadable = errors.find(({ code }) => code === "file.unreadable" || code === "source.unreadable");
  if (unreadable) return new SkillLoadError(name, path, unreadable.message);
  const messages = errors.map(({ message }) => message);
  return new SkillValidationError(name, messages.length > 0 ? messages : ["no skill was found there"], path);
}

function objectRefusal(skill: GivenSkill, profile: Profile): Error {
  const { diagnostics } = placeGiven([skill], { profile, integrationRank: 0 });
  const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
  return new SkillValidationError(String(skill.name ?? ""), errors);
}

/**
 * The current snapshot of a `Metier`, and everything that replaces it: reload, discovery, registration. Changes happen
 * one at a time, so none is lost; if one fails or a registration is refused, the old snapshot stays.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import {
  SkillConflictError,
  SkillError,
  SkillLoadError,
  SkillNotFoundError,
  SkillValidationError,
  UsageError,
} from "@metier/base/errors";
import { expandPath, isInside, realPathOr } from "@metier/base/places";
import {
  type Catalog,
  type GivenSkill,
  kindOf,
  PROGRAM_SOURCE,
  type Profile,
  placeGiven,
  type Skill,
  searchOptions,
  searchRoot,
  skillFault,
  sourceAddress,
} from "@metier/skills";
import type { LoadedConfig } from "@metier/skills/config";
import { openBrought } from "./brought-skills.ts";
import {
  type Discovery,
  type LoadInputs,
  loadState,
  type MetierState,
  type Registration,
  type Wanted,
} from "./load-state.ts";
import type { MetierOptions } from "./metier-options.ts";

export interface Snapshots {
  current(): MetierState;
  reload(): Promise<Catalog>;
  /** Returns the new skills. */
  discover(): Promise<readonly Skill[]>;
  register(registration: Registration): Promise<Skill>;
  deregister(name: string): Promise<void>;
}

export async function openSnapshots(inputs: LoadInputs): Promise<Snapshots> {
  const { options } = inputs;
  const { profile = "standard", conflicts = profile === "strict" ? "throw" : "report" } = options;
  const brought = openBrought(options, options.index === false ? undefined : inputs.places.cache);
  const load = async (wanted: Wanted): Promise<MetierState> => {
    const next = await loadState(inputs, wanted, brought);
    if (conflicts === "throw") refuseConflicts(next.catalog);
    return next;
  };
  let state = await load({ discovery: firstDiscovery(options), registered: [] });
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(change: () => Promise<Value>): Promise<Value> => {
    const next = turn.then(change);
    turn = next.catch(() => undefined); // Whoever requested the change gets its error; the next change proceeds.
    return next;
  };
  return {
    current: () => state,
    reload: () =>
      inTurn(async () => {
        const discovery = state.discovery === "none" ? "configured" : state.discovery;
        state = await load({ ...state, discovery });
        return state.catalog;
      }),
    discover: () =>
      inTurn(async () => {
        const before = new Set(state.catalog.all.map(keyOf));
        state = await load({ ...state, discovery: "asked" });
        return state.catalog.all.filter((skill) => !before.has(keyOf(skill)));
      }),
    register: (registration) =>
      inTurn(async () => {
        refuseKnown(state, registration);
        const next = await load({ ...state, registered: [...state.registered, registration] });
        const added = requireRegistered(next, registration, profile);
        state = next;
        return added;
      }),
    deregister: (name) =>
      inTurn(async () => {
        const registered = state.registered.filter((entry) => !isRegisteredAs(name, entry, state.catalog));
        if (registered.length === state.registered.length) {
          throw new SkillNotFoundError(name, undefined, {
            hint: "Only a registered skill can be removed.",
          });
        }
        state = await load({ ...state, registered });
      }),
  };
}

function firstDiscovery({ autoDiscover }: MetierOptions): Discovery {
  if (autoDiscover === undefined) return "configured";
  return autoDiscover ? "asked" : "none";
}

function keyOf({ location, name, source }: Skill): string {
  return source ? sourceAddress(source) : location || name;
}

function refuseConflicts({ all, diagnostics }: Catalog): void {
  const conflict = diagnostics.find(({ code }) => code === "catalog.conflict");
  if (!conflict) return;
  const loser = all.find(
    (skill) => skill.location === conflict.path && skill.shadowedBy?.scope === skill.scope,
  );
  const paths = [loser?.shadowedBy?.location ?? "", conflict.path];
  throw new SkillConflictError(
    loser?.name ?? "",
    paths.map((path) => path || "passed as an object"),
  );
}

/** How a program names a skill: an absolute path or an object. */
export function toRegistration(skill: unknown, home: string, cwd: string): Registration {
  const path = skill instanceof URL ? toPath(skill) : skill;
  if (typeof path === "string" && path.trim() !== "") return expandPath(path, home, cwd);
  if (typeof path === "object" && path !== null) return path as Registration;
  throw new UsageError(`A skill must be a path, a \`file:\` URL or an object, not ${kindOf(path)}.`);
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new UsageError(`\`${url}\` is not a file URL.`, {
      cause,
      hint: "Use a path or a `file:` URL.",
    });
  }
}

/** Throws for a path that contains a file already in the catalog, under any path. */
function refuseKnown({ catalog, roots, config }: MetierState, registration: Registration): void {
  if (typeof registration !== "string") {
    const [same] = skillsBroughtBy(registration, catalog).filter(({ source }) => source);
    if (same) throw new SkillConflictError(same.name, [same.location, "passed as an object"]);
    return;
  }
  const knownRoots = roots.map(({ path }) => realPathOr(path));
  const [root, options] = searchOptions(registration, knownRoots);
  const { found } = searchRoot(root, { ...options, nested: config.config.skills.nested });
  const files = new Set(found.map(({ realFile }) => realFile));
  const known = catalog.all.find(({ location }) => location !== "" && files.has(realPathOr(location)));
  if (known === undefined) return;
  throw new SkillConflictError(known.name, [known.location, registration], {
    hint: "It is already in the catalog.",
  });
}

/** Throws what a caller of `register` must know; otherwise returns the skill. */
function requireRegistered(
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
      [skill, ...others].map(({ location }) => location || "passed as an object"),
    );
  }
  return skill;
}

/** Whether this name comes from a registration, even if another source took over its folder. */
function isRegisteredAs(name: string, registration: Registration, catalog: Catalog): boolean {
  const brought = skillsBroughtBy(registration, catalog);
  const below = isWithin(registration);
  const skills = brought.length > 0 ? brought : catalog.all.filter(({ location }) => below(location));
  return skills.some((skill) => skill.name === name);
}

/** One, unless it is a folder of several. */
function skillsBroughtBy(registration: Registration, { all }: Catalog): readonly Skill[] {
  if (typeof registration === "string") {
    const below = isWithin(registration);
    const isOwn = ({ scope, root }: Skill): boolean =>
      scope === "custom" ? below(root) : root === registration || root === realPathOr(registration);
    return all.filter(isOwn);
  }
  const [given] = placeGiven([registration], { profile: "lenient", integrationRank: 0 }).placed;
  const { name } = given?.manifest ?? {};
  return all.filter((skill) => skill.name === name && isGiven(skill));
}

/** By the program, as an object. */
function isGiven({ location, source }: Skill): boolean {
  return location === "" || source?.source === PROGRAM_SOURCE;
}

/** By the registered path, or as the policy narrows it, by real path. */
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

/** Why a path has no skill. */
export function pathRefusal({ diagnostics }: Catalog, path: string): Error {
  const name = basename(path);
  if (!existsSync(path)) return new SkillNotFoundError(name, path);
  const errors = diagnostics.filter((entry) => entry.severity === "error" && isInside(entry.path, path));
  const unreadable = errors.find(({ code }) => code === "file.unreadable" || code === "source.unreadable");
  if (unreadable) return new SkillLoadError(name, path, unreadable.message);
  return skillFault(name, path, errors);
}

function objectRefusal(skill: GivenSkill, profile: Profile): Error {
  const { diagnostics } = placeGiven([skill], { profile, integrationRank: 0 });
  const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
  return new SkillValidationError(String(skill.name ?? ""), errors);
}

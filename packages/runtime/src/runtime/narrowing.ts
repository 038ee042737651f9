/**
 * The snapshot for one view: the catalog has only the skills it may use, and no run exceeds its limits. Built from the
 * current snapshot on first use, without reading anything; views with the same rules share it.
 */
import { nameMatcher } from "@metier/base/text";
import { dropOldest } from "@metier/base/turns";
import type { RunLimits } from "@metier/run";
import { Catalog, type Skill } from "@metier/skills";
import type { Config, LoadedConfig, RunsConfig } from "@metier/skills/config";
import { createDisclosure, type Tiers } from "./disclosure.ts";
import type { MetierParts, MetierState } from "./load-state.ts";
import type { Remote } from "./remote.ts";

interface NarrowingRules {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly limits?: Partial<RunLimits> | undefined;
}

/** The parts of a `Metier` that depend on the rules. */
export interface Narrowing {
  current(): MetierState;
  readonly disclosure: Tiers;
  /** Whether a skill exists, but these rules hide it. */
  isHidden(name: string): boolean;
}

interface NarrowingParts extends Pick<MetierParts, "current" | "given" | "profile"> {
  readonly disclosure: Tiers;
  readonly load: Remote["load"];
}

/** Enough for the plans of a product; a dropped one is built again. */
const MOST_KEPT = 100;

export function createNarrowings(parts: NarrowingParts): (rules: NarrowingRules) => Narrowing {
  const whole: Narrowing = {
    current: parts.current,
    disclosure: parts.disclosure,
    isHidden: () => false,
  };
  const known = new Map<string, Narrowing>();
  return ({ allow, deny = [], limits = {} }) => {
    const rules = { allow, deny, limits };
    if (allow === undefined && deny.length === 0 && Object.keys(limits).length === 0) return whole;
    const key = JSON.stringify([allow ?? null, deny, Object.entries(limits).sort()]);
    const narrowing = known.get(key) ?? narrow(parts, rules);
    known.delete(key); // The most recently used one is last.
    known.set(key, narrowing);
    dropOldest(known, MOST_KEPT);
    return narrowing;
  };
}

interface Rules extends NarrowingRules {
  readonly deny: readonly string[];
  readonly limits: Partial<RunLimits>;
}

function narrow(parts: NarrowingParts, rules: Rules): Narrowing {
  let made: { readonly from: MetierState; readonly state: MetierState } | undefined;
  const current = (): MetierState => {
    const from = parts.current();
    if (made?.from !== from) made = { from, state: narrowState(from, rules) };
    return made.state;
  };
  const load: Remote["load"] = async (name) => {
    current().catalog.require(name);
    return parts.load(name);
  };
  return {
    current,
    disclosure: {
      ...createDisclosure({ ...parts, current }, load),
      async find(query, k = DEFAULT_HITS, options) {
        const { catalog } = current();
        // The shared index exists already, or will serve everyone from now on.
        const hits = await parts.disclosure.find(query, parts.current().catalog.all.length, options);
        return hits.filter(({ name }) => catalog.has(name)).slice(0, k);
      },
    },
    isHidden: (name) => !current().catalog.has(name) && parts.current().catalog.has(name),
  };
}

const DEFAULT_HITS = 10;

function narrowState(state: MetierState, rules: Rules): MetierState {
  const { catalog } = state;
  const skills = catalog.all.filter(isAllowed(rules));
  return {
    ...state,
    catalog: new Catalog(skills, [], catalog.places), // Diagnostics of other skills aren't for it.
    config: narrowConfig(state.config, rules),
  };
}

/** An empty list of allowed names allows nothing: whoever computed it meant that. */
function isAllowed({ allow, deny }: Rules): (skill: Skill) => boolean {
  const isDenied = nameMatcher(deny);
  const isNamed = allow && nameMatcher(allow);
  return ({ name }) => isDenied(name) === undefined && (isNamed === undefined || isNamed(name) !== undefined);
}

/** Checked again on use, with the name that the file has by then. */
function narrowConfig(loaded: LoadedConfig, { allow, deny, limits }: Rules): LoadedConfig {
  const { skills, policyRuns } = loaded.config;
  const config: Config = {
    ...loaded.config,
    skills: {
      ...skills,
      deny: [...skills.deny, ...deny],
      allowWithin: allow === undefined ? skills.allowWithin : [...skills.allowWithin, allow],
    },
    policyRuns: lowerRuns(policyRuns, limits),
  };
  return { ...loaded, config };
}

/** Requests can't exceed the policy, so a view's limits go there too. */
function lowerRuns(policy: Config["policyRuns"], limits: Partial<RunLimits>): Config["policyRuns"] {
  const { timeoutMs, maxIterations, maxOutputBytes, maxTokens, maxCost } = limits;
  const timeoutSeconds = timeoutMs === undefined ? undefined : timeoutMs / 1000;
  const wanted = { timeoutSeconds, maxIterations, maxOutputBytes, maxTokens, maxCost };
  const lowered: Partial<Record<keyof typeof wanted, number>> = {};
  for (const [name, limit] of Object.entries(wanted) as [keyof typeof wanted, number | undefined][]) {
    if (limit !== undefined) lowered[name] = Math.min(limit, policy[name] ?? limit);
  }
  return { ...policy, ...(lowered as Partial<RunsConfig>) };
}

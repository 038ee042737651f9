/** What a `Metier` tells a model, tier by tier: the functions of `src/disclose` over its current snapshot. */
import { existsSync } from "node:fs";
import type { Catalog } from "../catalog/catalog.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { skillSettings } from "../config/skill-settings.ts";
import { listResources, type ResourceListing } from "../disclose/list-resources.ts";
import type { ListingOptions } from "../disclose/listing.ts";
import { type ListingPlan, type PlanOptions, planListing } from "../disclose/plan-listing.ts";
import { type Instructions, readInstructions } from "../disclose/read-instructions.ts";
import { type ByteRange, type ResourceContent, readResource } from "../disclose/read-resource.ts";
import { renderListing } from "../disclose/render-listing.ts";
import { visibleSkills } from "../disclose/visible-skills.ts";
import type { FindHit } from "../find/build-finder.ts";
import { matchTriggers, type TriggerMatches } from "../find/match-triggers.ts";
import { type FindIndex, openFindIndex } from "../find/open-find-index.ts";
import { SkillLoadError, SkillResourceError } from "../foundation/errors.ts";
import type { Skill } from "../skill/skill.ts";
import { linkTargets } from "../sources/skill-root.ts";
import { type SkillTools, type SkillToolsOptions, skillTools } from "../tools/skills/skill-tools.ts";
import type { Profile } from "../validate/profiles.ts";
import type { Holding } from "./holding.ts";
import type { MetierState } from "./load-state.ts";
import type { Remote } from "./remote.ts";

export interface ResourceOptions {
  readonly range?: ByteRange;
  readonly maxBytes?: number;
  readonly as?: "text" | "bytes";
}

export interface Disclosure {
  /** Tier 1: what a model is told of the usable skills. `""` when there are none. */
  renderListing(options?: ListingOptions): string;
  /** Tier 1 within a budget of tokens, with a report of what was shortened. */
  planListing(options: PlanOptions): ListingPlan;
  /** The usable skills that fit a request in words, best first; no network, no model. */
  find(query: string, k?: number): Promise<readonly FindHit[]>;
  /** The usable skills whose `triggers` fit a user's message, with the reasons. */
  matchTriggers(message: string): Promise<TriggerMatches<Skill>>;
  /** Tier 2: a skill's instructions, read and checked anew; `whole` adds the frontmatter. */
  getInstructions(name: string, options?: { readonly whole?: boolean }): Promise<Instructions>;
  /** Tier 3: the files of a skill by kind. */
  listResources(name: string): ResourceListing;
  /** Tier 3: one file of a skill; throws `SkillResourceError` for anything else. */
  readResource(name: string, path: string, options?: ResourceOptions): ResourceContent;
  /**
   * All tiers for a model without a file system: text for its system prompt, and tools. Skills that are only for some
   * chats are left out, since nobody is known to ask.
   */
  skillTools(options?: SkillToolsOptions): SkillTools;
}

export interface DisclosureInputs {
  current(): MetierState;
  /** Skills that were given as objects, whose bodies are nowhere else. */
  given(): readonly GivenSkill[];
  readonly holding: Holding;
  /** Fetches the files of a skill that is not here. */
  readonly load: Remote["load"];
  readonly profile: Profile;
  /** Where the search index lives; no index without it. */
  readonly cacheFolder?: string | undefined;
}

export function createDisclosure({
  current,
  given,
  holding: { whyHeld },
  load,
  profile,
  cacheFolder,
}: DisclosureInputs): Disclosure {
  const access = (): { readonly roots: readonly string[] } => ({
    roots: linkTargets(current().roots),
  });
  const bodyOf = (skill: Skill): string | undefined =>
    given().find(({ name }) => name === skill.name || name === skill.manifest.displayName)?.instructions;
  /** Asked after the reading, so that a change in between is noticed. */
  const holdToLock = (skill: Skill): void => {
    const changed = (skill.locked || skill.remote) && current().trustOnUse(skill).changed;
    if (changed) throw new SkillLoadError(skill.name, skill.location, changed.message, changed);
  };
  /** One search index for each snapshot: a second question does not open it again. */
  let opened: { readonly catalog: Catalog; readonly index: Promise<FindIndex> } | undefined;
  const finder = (): Promise<FindIndex> => {
    const { catalog } = current();
    if (opened?.catalog !== catalog) {
      const instructionsOf = (name: string): string | undefined =>
        given().find((skill) => skill.name === name)?.instructions;
      opened = {
        catalog,
        index: openFindIndex({ skills: visibleSkills(catalog.list()), cacheFolder, instructionsOf }),
      };
    }
    return opened.index;
  };
  const disclosure: Omit<Disclosure, "skillTools"> = {
    renderListing: (options) => renderListing(current().catalog.list(), options),
    planListing: (options) => planListing(current().catalog.list(), options),
    find: async (query, k) => (await finder()).find(query, k),
    matchTriggers: (message) => matchTriggers(visibleSkills(current().catalog.list()), message),
    async getInstructions(name, options = {}) {
      const { skill, diagnostics } = await load(name);
      const read = await readInstructions(skill, { ...options, ...access(), profile, bodyOf });
      holdToLock(skill);
      return diagnostics.length === 0
        ? read
        : { ...read, diagnostics: [...diagnostics, ...read.diagnostics] };
    },
    listResources: (name) => listResources(current().catalog.require(name), access()),
    readResource(name, path, options = {}) {
      const skill = current().catalog.require(name);
      if (skill.remote) requireFetched(skill);
      const read = readResource(skill, path, { ...options, ...access() });
      holdToLock(skill);
      return read;
    },
  };
  return {
    ...disclosure,
    skillTools: (options) =>
      skillTools({ ...disclosure, whyHeld, skills: () => skillsForEveryone(current()) }, options),
  };
}

/** Files of a server's skill are read where they were put when it was used. */
function requireFetched({ name, location }: Skill): void {
  if (existsSync(location)) return;
  throw new SkillResourceError(
    name,
    location,
    "missing",
    "its files have not been fetched from its server.",
    {
      hint: "Read its instructions first (`getInstructions`, or `remote.load`): that fetches them.",
    },
  );
}

/** What a model may use whoever asks it: nothing that is kept to some chats. */
function skillsForEveryone({ catalog, config }: MetierState): readonly Skill[] {
  return visibleSkills(catalog.list()).filter(
    ({ name, manifest }) =>
      !manifest.sensitive &&
      manifest.chatTypes.length === 0 &&
      skillSettings(config.config, name).allowChatIds.length === 0,
  );
}

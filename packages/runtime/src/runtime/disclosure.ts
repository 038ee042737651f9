/** What a `Metier` tells a model, tier by tier: the functions of `@metier/skills` over its current snapshot. */
import { existsSync } from "node:fs";
import { openHostCalls, type TellHost } from "@metier/base/diagnostic";
import { SkillLoadError, SkillResourceError } from "@metier/base/errors";
import type { SkillTools, SkillToolsOptions } from "@metier/run";
import {
  type ByteRange,
  type Catalog,
  type FindHit,
  type FindIndex,
  type FindProgress,
  type Instructions,
  type ListingOptions,
  type ListingPlan,
  linkTargets,
  listResources,
  type openFindIndex,
  type PlanOptions,
  planListing,
  type ResourceContent,
  type ResourceListing,
  readInstructions,
  readResource,
  renderListing,
  type Skill,
  type TriggerMatches,
  visibleSkills,
} from "@metier/skills";
import type { MetierParts } from "./load-state.ts";
import { checkReading } from "./reading-options.ts";
import type { Remote } from "./remote.ts";

/** Options of `readResource`: which bytes of the file, and in what form. */
export interface ResourceOptions {
  /** The bytes to read, `end` not included; text is cut at whole characters. Default: the whole file. */
  readonly range?: ByteRange;
  /** More bytes than this throw `SkillResourceError`. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Default: `text` where the file is text, else `bytes`. `text` of anything else throws `SkillResourceError`. */
  readonly as?: "text" | "bytes";
}

/** Options of `find`. */
export interface FindOptions {
  /** Told while skills are read that the search index does not have yet. */
  readonly onProgress?: ((step: FindProgress) => unknown) | undefined;
}

/** What a model is told of skills, in three tiers: a listing of all, the instructions of one, and its files. */
export interface Disclosure {
  /** Tier 1: what a model is told of the usable skills. `""` when there are none. */
  renderListing(options?: ListingOptions): string;
  /** Tier 1 within a budget of tokens, with a report of what was shortened. */
  planListing(options: PlanOptions): ListingPlan;
  /** The usable skills that fit a request in words, best first; no network, no model. */
  find(query: string, k?: number, options?: FindOptions): Promise<readonly FindHit[]>;
  /** The usable skills whose `triggers` fit a user's message, with the reasons. */
  matchTriggers(message: string): Promise<TriggerMatches<Skill>>;
  /** Tier 2: a skill's instructions, read and checked anew; `whole` adds the frontmatter. */
  getInstructions(
    name: string,
    options?: {
      /** Whether the frontmatter is in the text, too. Default: `false`. */
      readonly whole?: boolean;
    },
  ): Promise<Instructions>;
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

/** The tiers themselves. `skillTools` is made from them where it is known what runs. */
export type Tiers = Omit<Disclosure, "skillTools">;

/** `load` fetches the files of a skill that is not here. */
export function createDisclosure(
  {
    current,
    given,
    profile,
    cacheFolder,
  }: Pick<MetierParts, "current" | "given" | "profile" | "cacheFolder">,
  load: Remote["load"],
  tell: TellHost = openHostCalls(undefined),
): Tiers {
  const access = (): { readonly roots: readonly string[] } => ({ roots: linkTargets(current().roots) });
  const bodyOf = (skill: Skill): string | undefined =>
    given().find(({ name }) => name === skill.name || name === skill.manifest.displayName)?.instructions;
  /** Asked after the reading, so that a change in between is noticed. */
  const holdToLock = (skill: Skill): void => {
    const changed = (skill.locked || skill.remote || skill.source) && current().trustOnUse(skill).changed;
    if (changed) throw new SkillLoadError(skill.name, skill.location, changed.message, changed);
  };
  /** One search index for each snapshot: a second question does not open it again. */
  let opened: { readonly catalog: Catalog; readonly index: Promise<FindIndex> } | undefined;
  const finder = ({ onProgress }: FindOptions = {}): Promise<FindIndex> => {
    const { catalog } = current();
    if (opened?.catalog !== catalog) {
      const instructionsOf = (name: string): string | undefined =>
        given().find((skill) => skill.name === name)?.instructions;
      const skills = visibleSkills(catalog.list());
      const say: FindOptions["onProgress"] = onProgress && ((step) => tell("onProgress", onProgress, step));
      opened = { catalog, index: openIndex({ skills, cacheFolder, instructionsOf, onProgress: say }) };
    }
    return opened.index;
  };
  return {
    renderListing: (options) =>
      renderListing(current().catalog.list(), checkReading("renderListing", options)),
    planListing: (options) => planListing(current().catalog.list(), checkReading("planListing", options)),
    find: async (query, k, options) => (await finder(checkReading("find", options))).find(query, k),
    async matchTriggers(message) {
      const skills = visibleSkills(current().catalog.list());
      const { matchTriggers } = await import("@metier/skills");
      return matchTriggers(skills, message);
    },
    async getInstructions(name, options = {}) {
      checkReading("getInstructions", options);
      const { skill, diagnostics } = await load(name);
      const read = await readInstructions(skill, { ...options, ...access(), profile, bodyOf });
      holdToLock(skill);
      return { ...read, diagnostics: [...diagnostics, ...read.diagnostics] };
    },
    listResources: (name) => listResources(current().catalog.require(name), access()),
    readResource(name, path, options = {}) {
      checkReading("readResource", options);
      const skill = current().catalog.require(name);
      if (skill.remote) requireFetched(skill);
      const read = readResource(skill, path, { ...options, ...access() });
      holdToLock(skill);
      return read;
    },
  };
}

/** Searching is loaded when it is asked for: most programs and commands never do. */
async function openIndex(request: Parameters<typeof openFindIndex>[0]): Promise<FindIndex> {
  const { openFindIndex } = await import("@metier/skills");
  return openFindIndex(request);
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

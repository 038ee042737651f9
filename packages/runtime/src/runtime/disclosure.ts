/** What a `Metier` tells a model, tier by tier: the functions of `@metier/skills` on its current snapshot. */
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

/** Options of `readResource`: which bytes of the file, and in which form. */
export interface ResourceOptions {
  /** The bytes to read, excluding `end`; text is cut at whole characters. Default: the whole file. */
  readonly range?: ByteRange;
  /** A larger file throws `SkillResourceError`. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Default: `text` if the file is text, else `bytes`. `text` for any other file throws `SkillResourceError`. */
  readonly as?: "text" | "bytes";
}

/** Options of `find`. */
export interface FindOptions {
  /** Called while skills are read that the search index doesn't have yet. */
  readonly onProgress?: ((step: FindProgress) => unknown) | undefined;
}

/** What a model is told about skills, in three tiers: a listing of all, one skill's instructions, and its files. */
export interface Disclosure {
  /** Tier 1: what a model is told about the usable skills. `""` if there are none. */
  renderListing(options?: ListingOptions): string;
  /** Tier 1 within a token budget, with a report of what was shortened. */
  planListing(options: PlanOptions): ListingPlan;
  /** The usable skills that match a request in words, best first; needs no network and no model. */
  find(query: string, k?: number, options?: FindOptions): Promise<readonly FindHit[]>;
  /** The usable skills whose `triggers` match a user's message, with the reasons. */
  matchTriggers(message: string): Promise<TriggerMatches<Skill>>;
  /** Tier 2: a skill's instructions, read and checked again; `whole` adds the frontmatter. */
  getInstructions(
    name: string,
    options?: {
      /** Whether to include the frontmatter. Default: `false`. */
      readonly whole?: boolean;
    },
  ): Promise<Instructions>;
  /** Tier 3: the files of a skill by kind. */
  listResources(name: string): ResourceListing;
  /** Tier 3: one file of a skill; throws `SkillResourceError` for anything else. */
  readResource(name: string, path: string, options?: ResourceOptions): ResourceContent;
  /**
   * All tiers for a model without a file system: text for its system prompt, and tools. Leaves out skills that are only
   * for some chats, because the caller is unknown.
   */
  skillTools(options?: SkillToolsOptions): SkillTools;
}

/** The tiers themselves. `skillTools` is built from them where runs are available. */
export type Tiers = Omit<Disclosure, "skillTools">;

/** `load` fetches the files of a skill that aren't on this machine. */
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
  /** Checked after reading, so that a change in between is noticed. */
  const holdToLock = (skill: Skill): void => {
    const changed = (skill.locked || skill.remote || skill.source) && current().trustOnUse(skill).changed;
    if (changed) throw new SkillLoadError(skill.name, skill.location, changed.message, changed);
  };
  /** One search index per snapshot: a second query doesn't open it again. */
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

/** Search is loaded on demand: most programs and commands never use it. */
async function openIndex(request: Parameters<typeof openFindIndex>[0]): Promise<FindIndex> {
  const { openFindIndex } = await import("@metier/skills");
  return openFindIndex(request);
}

/** A remote skill's files are read where they were stored when it was used. */
function requireFetched({ name, location }: Skill): void {
  if (existsSync(location)) return;
  throw new SkillResourceError(
    name,
    location,
    "missing",
    "its files have not been fetched from its server.",
    {
      hint: "Read its instructions first (`getInstructions` or `remote.load`), which fetches them.",
    },
  );
}

/**
 * The prompt section and the context provider other systems know: skills of directories or catalogs rendered into a
 * prompt, and three tiers with `null` where there is nothing.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError, UsageError } from "@metier/base/errors";
import { type Json, presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { cleanText, nameMatcher } from "@metier/base/text";
import {
  type Catalog,
  mountedPlace,
  type Profile,
  type ResourceKind,
  renderListing,
  type Skill,
  visibleSkills,
} from "@metier/skills";
import { createMetier, type Metier } from "../runtime/create-metier.ts";

/** `full`: names, descriptions and places. `summary`: names alone. */
export type SectionVisibility = "full" | "summary";

/** Which skills a section of a prompt tells of, and how. `skills` or `skillsDir` is needed. */
export interface AgentSkillsSectionOptions {
  /** Directories of skills, or catalogs that are there already; of two skills of one name the first one counts. */
  readonly skills?: string | Catalog | readonly (string | Catalog)[];
  /** One directory of skills, beside those in `skills`. */
  readonly skillsDir?: string;
  /** Whatever the program's session is: the section keeps it for those who ask. */
  readonly session?: unknown;
  /** Whether the program lets others change the section; the section only says so. Default: `false`. */
  readonly acceptsOverrides?: boolean;
  /** How strict the directories are read. Default: `standard`. */
  readonly profile?: Profile;
  /** Globs over names; empty means all. */
  readonly allowedSkills?: readonly string[];
  /** Globs over names; they beat the allowed ones. */
  readonly deniedSkills?: readonly string[];
  /** Where the skills are mounted for the reader. Default: `skills`. */
  readonly mountPath?: string;
  /** How much `render` tells unless it is asked otherwise. Default: `full`. */
  readonly visibility?: SectionVisibility;
}

const SECTION: OptionKeys<AgentSkillsSectionOptions> = {
  skills: true,
  skillsDir: true,
  session: true,
  acceptsOverrides: true,
  profile: true,
  allowedSkills: true,
  deniedSkills: true,
  mountPath: true,
  visibility: true,
};

/** A section of a prompt that lists skills, made once from directories or catalogs. */
export class AgentSkillsSection {
  /** What the section tells of, sorted by name. */
  readonly skills: readonly Skill[];
  /** What is wrong in the directories and catalogs, and with their skills. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #options: AgentSkillsSectionOptions;

  private constructor(
    options: AgentSkillsSectionOptions,
    skills: readonly Skill[],
    diagnostics: readonly Diagnostic[],
  ) {
    this.#options = options;
    this.skills = skills;
    this.diagnostics = diagnostics;
    Object.freeze(this);
  }

  /** Reads the directories and makes the section. Throws `UsageError` without `skills` and `skillsDir`. */
  static async create(options: AgentSkillsSectionOptions): Promise<AgentSkillsSection> {
    checkKeys("AgentSkillsSection.create", options ?? null, SECTION);
    const { skills: given = [], skillsDir } = options;
    const sources = [given, skillsDir ?? []].flat() as readonly (string | Catalog)[];
    if (sources.length === 0) {
      throw new UsageError("A section of skills needs some.", { hint: "Give `skillsDir` or `skills`." });
    }
    const skills = new Map<string, Skill>();
    const diagnostics: Diagnostic[] = [];
    for (const source of sources) {
      const catalog = typeof source === "string" ? await readDirectory(source, options) : source;
      diagnostics.push(...catalog.diagnostics);
      for (const skill of catalog.list()) if (!skills.has(skill.name)) skills.set(skill.name, skill);
    }
    const shown = visibleSkills([...skills.values()].filter(filterOf(options)));
    return new AgentSkillsSection(options, shown, diagnostics);
  }

  /** What was given as the session. */
  get session(): unknown {
    return this.#options.session;
  }

  /** Whether others may change the section, as was given. */
  get acceptsOverrides(): boolean {
    return this.#options.acceptsOverrides ?? false;
  }

  /** What the files say of themselves, skill by skill. */
  get metadata(): readonly SkillMetadata[] {
    return this.skills.map(({ name, description, directory: path, manifest }) => ({
      name,
      description,
      path,
      allowedTools: manifest.allowedTools ?? [],
      metadata: manifest.metadata,
      ...presentFields({ license: manifest.license, compatibility: manifest.compatibility }),
    }));
  }

  /** As `render`, by the name and in the order of the system that this face comes from; there are no parameters yet. */
  renderBody(
    _params?: unknown,
    options: {
      /** How much is told. Default: as the section was made. */
      readonly visibility?: SectionVisibility;
    } = {},
  ): string {
    checkKeys("renderBody", options, { visibility: true });
    return this.render(options.visibility);
  }

  /** `""` when there is nothing to tell. */
  render(visibility: SectionVisibility = this.#options.visibility ?? "full"): string {
    const mountPath = this.#options.mountPath ?? "skills";
    if (visibility === "full") {
      const options = { format: "xml", location: "mounted", activation: "file" } as const;
      return renderListing(this.skills, { ...options, mountPath });
    }
    if (this.skills.length === 0) return "";
    const names = renderListing(this.skills, { format: "names", activation: "none" });
    const file = `${mountedPlace(mountPath, "<name>")}/SKILL.md`;
    return `${names}\n\nWhen a task matches one of the skills, read \`${file}\` first and follow it step by step.`;
  }

  /** The same section with some options changed. */
  clone(changes: Partial<AgentSkillsSectionOptions> = {}): Promise<AgentSkillsSection> {
    return AgentSkillsSection.create({ ...this.#options, ...changes });
  }
}

/** One explicit directory and nothing else, as in the system this face comes from. */
async function readDirectory(
  directory: string,
  { profile }: Pick<AgentSkillsSectionOptions, "profile">,
): Promise<Catalog> {
  const options = { preset: "weakincentives", paths: [directory], index: false } as const;
  return (await createMetier({ ...options, ...presentFields({ profile }) })).catalog;
}

/** What a skill file says of its skill, in one flat object. */
export interface SkillMetadata {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** What it does and when to use it. */
  readonly description: string;
  /** The skill's folder, absolute. */
  readonly path: string;
  /** The license's name or file; absent when the file names none. */
  readonly license?: string;
  /** What the skill needs, in words; absent when the file says nothing. */
  readonly compatibility?: string;
  /** Its `allowed-tools`; empty when the file declares none. */
  readonly allowedTools: readonly string[];
  /** Further facts as the file has them; numbers and booleans are text. */
  readonly metadata: Readonly<Record<string, Json>>;
}

function filterOf({
  allowedSkills = [],
  deniedSkills = [],
}: AgentSkillsSectionOptions): (skill: Skill) => boolean {
  const allowed = nameMatcher(allowedSkills);
  const denied = nameMatcher(deniedSkills);
  return ({ name }) =>
    (allowedSkills.length === 0 || allowed(name) !== undefined) && denied(name) === undefined;
}

/** Which skills a provider knows besides the usable ones. They are never told to a model. */
export interface SkillLoaderOptions {
  /** Those that the configuration switches off. Default: `false`. */
  readonly includeDisabled?: boolean;
  /** Those that lack something on this machine. Default: `false`. */
  readonly includeUnavailable?: boolean;
}

/** A skill, and why it cannot be used if it cannot. */
export interface DiscoveredSkill extends Skill {
  /** By configuration. */
  readonly disabled?: boolean;
  /** It lacks something on this machine. */
  readonly unavailable?: boolean;
  /** Such as `missing commands: gh`. */
  readonly unavailableReason?: string;
}

const LOADER: OptionKeys<SkillLoaderOptions> = { includeDisabled: true, includeUnavailable: true };

/**
 * Gives out skills in three tiers: the listing, the instructions of one, and its files; `null` for what isn't there.
 */
export class SkillContextProvider {
  readonly #metier: Metier;
  readonly #options: SkillLoaderOptions;

  constructor(metier: Metier, options: SkillLoaderOptions = {}) {
    checkKeys("SkillContextProvider", options, LOADER);
    this.#metier = metier;
    this.#options = options;
  }

  /** `<available_skills>`, or `""` when there are none. */
  getTier1Context(): string {
    return this.#metier.renderListing({ format: "xml", location: "file", activation: "none" });
  }

  /** The whole skill file, or only its body. */
  async getTier2Context(
    name: string,
    options: {
      /** Whether the frontmatter is left out. Default: `false`. */
      readonly stripFrontmatter?: boolean;
    } = {},
  ): Promise<string | null> {
    checkKeys("getTier2Context", options, { stripFrontmatter: true });
    return this.#orNull(name, async () => {
      const { text } = await this.#metier.getInstructions(name, { whole: !options.stripFrontmatter });
      return text;
    });
  }

  /** `scripts/run.sh`, …: the files of one kind, with their folder. */
  async getTier3ResourceList(name: string, kind: Exclude<ResourceKind, "other">): Promise<readonly string[]> {
    const listing = await this.#orNull(name, async () => this.#metier.listResources(name));
    return listing?.resources.filter((resource) => resource.kind === kind).map(({ path }) => path) ?? [];
  }

  /** As a model may see it: without invisible characters. */
  async getTier3Resource(name: string, path: string): Promise<string | null> {
    return this.#orNull(
      name,
      async () => cleanText(this.#metier.readResource(name, path, { as: "text" }).text ?? "").text,
    );
  }

  /** A usable one, unless the options say more: whoever is disabled, denied or unavailable is not there. */
  getSkill(name: string): DiscoveredSkill | undefined {
    const skill = this.#metier.get(name);
    const { includeDisabled, includeUnavailable } = this.#options;
    switch (skill?.status) {
      case "enabled":
        return skill;
      case "disabled":
        return includeDisabled ? { ...skill, disabled: true } : undefined;
      case "unavailable": {
        const unavailableReason = skill.reason ?? "";
        return includeUnavailable ? { ...skill, unavailable: true, unavailableReason } : undefined;
      }
      default:
        return undefined;
    }
  }

  /** The names of the usable skills, sorted, and of those that the options include. */
  getSkillNames(): readonly string[] {
    return this.#metier.names(this.#options);
  }

  /** What cannot be given out is `null` here, as callers of this face expect; faults of the program stay faults. */
  async #orNull<Value>(name: string, read: () => Promise<Value>): Promise<Value | null> {
    if (this.#metier.get(name)?.status !== "enabled") return null;
    try {
      return await read();
    } catch (error) {
      if (error instanceof MetierError) return null;
      throw error;
    }
  }
}

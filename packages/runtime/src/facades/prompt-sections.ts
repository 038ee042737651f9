/**
 * Other systems' prompt section and context provider: skills from directories or catalogs rendered into a prompt, and
 * three tiers with `null` for anything missing.
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

/** `full`: names, descriptions and paths. `summary`: only names. */
export type SectionVisibility = "full" | "summary";

/** Which skills a prompt section lists, and how. Needs `skills` or `skillsDir`. */
export interface AgentSkillsSectionOptions {
  /** Directories of skills, or existing catalogs; if two skills share a name, the first wins. */
  readonly skills?: string | Catalog | readonly (string | Catalog)[];
  /** One directory of skills, in addition to `skills`. */
  readonly skillsDir?: string;
  /** The program's session, of any kind: the section only stores it. */
  readonly session?: unknown;
  /** Whether the program lets others change the section; the section only reports it. Default: `false`. */
  readonly acceptsOverrides?: boolean;
  /** How strictly the directories are read. Default: `standard`. */
  readonly profile?: Profile;
  /** Globs over names; empty means all. */
  readonly allowedSkills?: readonly string[];
  /** Globs over names; they override the allowed ones. */
  readonly deniedSkills?: readonly string[];
  /** Where the skills are mounted for the reader. Default: `skills`. */
  readonly mountPath?: string;
  /** How much `render` shows by default. Default: `full`. */
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

/** A prompt section that lists skills, created once from directories or catalogs. */
export class AgentSkillsSection {
  /** The listed skills, sorted by name. */
  readonly skills: readonly Skill[];
  /** Problems in the directories and catalogs, and with their skills. */
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

  /** Reads the directories and creates the section. Throws `UsageError` without `skills` and `skillsDir`. */
  static async create(options: AgentSkillsSectionOptions): Promise<AgentSkillsSection> {
    checkKeys("AgentSkillsSection.create", options ?? null, SECTION);
    const { skills: given = [], skillsDir } = options;
    const sources = [given, skillsDir ?? []].flat() as readonly (string | Catalog)[];
    if (sources.length === 0) {
      throw new UsageError("`skills` and `skillsDir` are both missing.", {
        hint: "Pass `skillsDir` or `skills`.",
      });
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

  /** The session that was passed in. */
  get session(): unknown {
    return this.#options.session;
  }

  /** Whether others may change the section, as passed in. */
  get acceptsOverrides(): boolean {
    return this.#options.acceptsOverrides ?? false;
  }

  /** The metadata of each skill file. */
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

  /** Same as `render`, with the name and parameters of the original system; there are no parameters yet. */
  renderBody(
    _params?: unknown,
    options: {
      /** How much to show. Default: the section's setting. */
      readonly visibility?: SectionVisibility;
    } = {},
  ): string {
    checkKeys("renderBody", options, { visibility: true });
    return this.render(options.visibility);
  }

  /** `""` if there is nothing to show. */
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

/** Only one explicit directory, as in the original system. */
async function readDirectory(
  directory: string,
  { profile }: Pick<AgentSkillsSectionOptions, "profile">,
): Promise<Catalog> {
  const options = { preset: "weakincentives", paths: [directory], index: false } as const;
  return (await createMetier({ ...options, ...presentFields({ profile }) })).catalog;
}

/** A skill file's metadata in one flat object. */
export interface SkillMetadata {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** What it does and when to use it. */
  readonly description: string;
  /** The skill's folder, absolute. */
  readonly path: string;
  /** The license's name or file; absent if the file has none. */
  readonly license?: string;
  /** What the skill needs, in words; absent if the file doesn't say. */
  readonly compatibility?: string;
  /** Its `allowed-tools`; empty if the file declares none. */
  readonly allowedTools: readonly string[];
  /** Other metadata from the file; numbers and booleans are strings. */
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

/** Which skills a provider knows besides the usable ones. Models never see them. */
export interface SkillLoaderOptions {
  /** Skills that the configuration disables. Default: `false`. */
  readonly includeDisabled?: boolean;
  /** Skills that lack something on this machine. Default: `false`. */
  readonly includeUnavailable?: boolean;
}

/** A skill, and why it can't be used, if so. */
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
 * Provides skills in three tiers: the listing, one skill's instructions, and its files; `null` for anything missing.
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
      /** Whether to leave out the frontmatter. Default: `false`. */
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

  /** A usable skill, unless the options include more: disabled, denied and unavailable skills are missing. */
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

  /** The names of the usable skills, and of those that the options include, sorted. */
  getSkillNames(): readonly string[] {
    return this.#metier.names(this.#options);
  }

  /** What can't be provided is `null`, as callers of this class expect; programming errors still throw. */
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

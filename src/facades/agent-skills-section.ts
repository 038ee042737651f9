/** The prompt section other systems know: skills of one or several directories or catalogs, rendered into a prompt. */
import type { Catalog } from "../catalog/catalog.ts";
import { mountedPlace } from "../disclose/listing-entry.ts";
import { renderListing } from "../disclose/render-listing.ts";
import { visibleSkills } from "../disclose/visible-skills.ts";
import { nameMatcher } from "../foundation/glob-pattern.ts";
import { createMetier } from "../runtime/create-metier.ts";
import type { Skill } from "../skill/skill.ts";

/** `full`: names, descriptions and places. `summary`: names alone. */
export type SectionVisibility = "full" | "summary";

export interface AgentSkillsSectionOptions {
  /** Directories of skills, or catalogs that are there already; of two skills of one name the first one counts. */
  readonly skills: string | Catalog | readonly (string | Catalog)[];
  /** Globs over names; empty means all. */
  readonly allowedSkills?: readonly string[];
  /** Globs over names; they beat the allowed ones. */
  readonly deniedSkills?: readonly string[];
  /** Where the skills are mounted for the reader. Default: `skills`. */
  readonly mountPath?: string;
  readonly visibility?: SectionVisibility;
}

export class AgentSkillsSection {
  /** What the section tells of, sorted by name. */
  readonly skills: readonly Skill[];
  readonly #options: AgentSkillsSectionOptions;

  private constructor(options: AgentSkillsSectionOptions, skills: readonly Skill[]) {
    this.#options = options;
    this.skills = skills;
    Object.freeze(this);
  }

  static async create(options: AgentSkillsSectionOptions): Promise<AgentSkillsSection> {
    const sources = [options.skills].flat() as readonly (string | Catalog)[];
    const skills = new Map<string, Skill>();
    for (const source of sources) {
      const catalog = typeof source === "string" ? await readDirectory(source) : source;
      for (const skill of catalog.list()) if (!skills.has(skill.name)) skills.set(skill.name, skill);
    }
    return new AgentSkillsSection(options, visibleSkills([...skills.values()].filter(filterOf(options))));
  }

  /** `""` when there is nothing to tell. */
  render(visibility: SectionVisibility = this.#options.visibility ?? "full"): string {
    const mountPath = this.#options.mountPath ?? "skills";
    if (visibility === "full") {
      return renderListing(this.skills, {
        format: "xml",
        location: "mounted",
        mountPath,
        activation: "file",
      });
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
async function readDirectory(directory: string): Promise<Catalog> {
  return (await createMetier({ preset: "weakincentives", paths: [directory], index: false })).catalog;
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

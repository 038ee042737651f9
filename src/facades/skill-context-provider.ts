/** The context provider other systems know, as a thin face over a `Metier`: three tiers, `null` where there is nothing. */
import { cleanText } from "../disclose/clean-text.ts";
import type { ResourceKind } from "../disclose/list-resources.ts";
import { MetierError } from "../foundation/errors.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Skill } from "../skill/skill.ts";

export class SkillContextProvider {
  readonly #metier: Metier;

  constructor(metier: Metier) {
    this.#metier = metier;
  }

  /** `<available_skills>`, or `""` when there are none. */
  getTier1Context(): string {
    return this.#metier.renderListing({ format: "xml", location: "file", activation: "none" });
  }

  /** The whole skill file, or only its body. */
  async getTier2Context(
    name: string,
    options: { readonly stripFrontmatter?: boolean } = {},
  ): Promise<string | null> {
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

  /** A usable one: whoever is disabled, denied or unavailable is not there. */
  getSkill(name: string): Skill | undefined {
    const skill = this.#metier.get(name);
    return skill?.status === "enabled" ? skill : undefined;
  }

  getSkillNames(): readonly string[] {
    return this.#metier.names();
  }

  /** What cannot be given out is `null` here, as callers of this face expect; faults of the program stay faults. */
  async #orNull<Value>(name: string, read: () => Promise<Value>): Promise<Value | null> {
    if (this.getSkill(name) === undefined) return null;
    try {
      return await read();
    } catch (error) {
      if (error instanceof MetierError) return null;
      throw error;
    }
  }
}

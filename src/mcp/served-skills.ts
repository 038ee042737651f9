/**
 * The skills that a caller is served by the Skills extension. What was hashed is remembered as long as no file's stamp
 * has changed; which skills there are, and whether they may be used, is asked anew each time.
 */
import { lstatSync } from "node:fs";
import type { Catalog } from "../catalog/catalog.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Skill } from "../skill/skill.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import { stampOf } from "../trust/identify-file.ts";
import { listContent } from "../trust/list-content.ts";
import { type ServedOutcome, type ServedSkill, serveSkill } from "./served-skill.ts";
import { skillNameIn } from "./skill-uri.ts";

export interface ServedSkills {
  /** Those of these skills that can be served, in the same order. */
  serve(skills: readonly Skill[]): Promise<readonly ServedSkill[]>;
  /** The one that a URI lies in, whatever it names there. */
  find(uri: string): Promise<ServedSkill | undefined>;
}

export interface ServedInputs {
  readonly metier: Metier;
  readonly library: SkillLibrary;
  report(diagnostic: Diagnostic): void;
}

export function createServedSkills({ metier, library, report }: ServedInputs): ServedSkills {
  let catalog: Catalog | undefined;
  let known = new Map<string, { readonly stamps: string; readonly outcome: ServedOutcome }>();
  const look = async (skill: Skill): Promise<ServedOutcome> => {
    if (skill.remote)
      return { ok: false, reason: "it comes from an MCP server itself, and is not passed on" };
    const held = await library.whyHeld?.(skill);
    if (held !== undefined) return { ok: false, reason: held };
    if (catalog !== metier.catalog) known = new Map();
    catalog = metier.catalog;
    const stamps = stampsOf(skill);
    const before = known.get(skill.name);
    if (stamps !== undefined && before?.stamps === stamps) return before.outcome;
    const outcome = await serveOrSay(metier, skill);
    if (stamps !== undefined) known.set(skill.name, { stamps, outcome });
    return outcome;
  };
  const serveOne = async (skill: Skill): Promise<ServedSkill | undefined> => {
    const outcome = await look(skill);
    if (outcome.ok) return outcome.served;
    report(notServed(skill, outcome.reason));
    return undefined;
  };
  return {
    async serve(skills) {
      const served: ServedSkill[] = [];
      for (const skill of skills) {
        const one = await serveOne(skill);
        if (one) served.push(one);
      }
      return served;
    },
    async find(uri) {
      const name = skillNameIn(uri);
      const skill = library.skills().find((candidate) => candidate.name === name);
      return skill && serveOne(skill);
    },
  };
}

/** `undefined` for a skill whose content cannot be told by stamps. */
function stampsOf(skill: Skill): string | undefined {
  if (!hasFolder(skill)) return undefined;
  const listing = listContent(skill);
  if (!listing.ok) return undefined;
  try {
    return listing.files
      .map(({ path, file }) => `${path}\0${stampOf(lstatSync(file, { bigint: true }))}`)
      .join("\n");
  } catch {
    return undefined; // A file has just gone: the skill is read anew.
  }
}

/** A skill that cannot be read keeps none of the others from being served. */
async function serveOrSay(metier: Metier, skill: Skill): Promise<ServedOutcome> {
  try {
    return await serveSkill(metier, skill);
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

function notServed({ name, location }: Skill, reason: string): Diagnostic {
  return {
    code: "mcp.not-served",
    severity: "warning",
    path: location || name,
    message: `Skill \`${name}\` is left out of \`skills/list\`: ${reason.replace(/\.$/, "")}.`,
    hint: "`metier validate --strict` says what other clients expect of a skill; the tools serve it all the same if it can be used.",
  };
}

/** Converts what other systems' classes let a program register into what `Metier.register` takes. */
import { fileURLToPath } from "node:url";
import { UsageError } from "@metier/base/errors";
import type { Json } from "@metier/base/json";
import { expandPath, realPathOr } from "@metier/base/places";
import type { GivenSkill, Skill, SkillManifest } from "@metier/skills";
import type { Metier } from "../runtime/create-metier.ts";
import type { LoadedSkill, RegistrableSkill } from "./skill-manager.ts";

/** A skill with a file is registered by its file, so that its trust is decided here. */
export function toRegistrable(skill: RegistrableSkill): string | URL | GivenSkill {
  if (typeof skill !== "object" || skill === null || skill instanceof URL) return skill;
  const loaded = isLoaded(skill);
  const info = loaded ? skill.info : isListed(skill) ? skill : undefined;
  if (info === undefined) return skill as GivenSkill;
  if (info.location !== "") return info.form === "directory" ? info.directory : info.location;
  if (loaded) return { ...fieldsOf(info.manifest), ...nameOf(info), instructions: skill.body };
  throw new UsageError(
    `Skill \`${info.name}\` has no file, and a listed skill does not include its instructions.`,
    {
      hint: "Register what `getSkill` or `load` returns, or the object the skill was made from.",
    },
  );
}

function isLoaded(skill: object): skill is LoadedSkill {
  return "info" in skill && "body" in skill;
}

function isListed(skill: object): skill is Skill {
  return "manifest" in skill && "location" in skill && "trust" in skill;
}

function nameOf({ name, description }: Skill): Pick<GivenSkill, "name" | "description"> {
  return { name, description };
}

/** As an object would declare them: undeclared fields are left out. */
function fieldsOf({
  chatTypes,
  version: _version,
  tags: _tags,
  ...fields
}: SkillManifest): Record<string, Json> {
  const isDeclared = (value: unknown): boolean =>
    value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
  const declared = Object.entries(fields).filter(([key, value]) => {
    if (key === "userInvocable") return value === false;
    if (key === "requires") return Object.values(value as object).some(isDeclared);
    return isDeclared(value);
  });
  return {
    ...(Object.fromEntries(declared) as Record<string, Json>),
    ...(chatTypes.length > 0 && { access: { "chat-types": chatTypes } }),
  };
}

/** The skill at a path, if the catalog has it. */
export function findByPath(
  asked: string | URL | GivenSkill,
  { catalog, places }: Metier,
  cwd: string,
): Skill | undefined {
  const path = asked instanceof URL && asked.protocol === "file:" ? fileURLToPath(asked) : asked;
  if (typeof path !== "string" || path.trim() === "") return undefined;
  const real = realPathOr(expandPath(path, places.home, cwd));
  return catalog.all.find(({ form, location, directory }) => {
    if (location === "") return false;
    return realPathOr(location) === real || (form === "directory" && realPathOr(directory) === real);
  });
}

/** Skills that are registered one by one: what a registration turned out to be, and why it may be refused. */

import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Catalog } from "../catalog/catalog.ts";
import {
  SkillConflictError,
  SkillLoadError,
  SkillNotFoundError,
  SkillValidationError,
} from "../foundation/errors.ts";
import { isInside } from "../host/places.ts";
import type { Skill } from "../skill/skill.ts";
import type { Registration } from "./load-state.ts";

/** The skills a registration brought into the catalog: one, unless it is a folder of several. */
export function registeredSkills(catalog: Catalog, registration: Registration): readonly Skill[] {
  return catalog.all.filter((skill) =>
    typeof registration === "string"
      ? skill.scope === "custom" && isInside(skill.location, registration)
      : skill.location === "" && (skill.manifest.displayName ?? skill.name) === registration.name,
  );
}

/** Throws what a caller of `register` must know; answers with the skill when all is well. */
export function requireRegistered(catalog: Catalog, registration: Registration): Skill {
  const [skill] = registeredSkills(catalog, registration);
  if (skill === undefined) throw refusal(catalog, registration);
  const others = catalog.all.filter(
    (other) => other !== skill && other.name === skill.name && other.scope === skill.scope,
  );
  if (others.length > 0) {
    throw new SkillConflictError(
      skill.name,
      [skill, ...others].map(({ location }) => location || "given as an object"),
    );
  }
  return skill;
}

function refusal(catalog: Catalog, registration: Registration): Error {
  const path = typeof registration === "string" ? registration : "";
  const name = typeof registration === "string" ? basename(registration) : registration.name;
  if (path !== "" && !existsSync(path)) return new SkillNotFoundError(name, path);
  const errors = catalog.diagnostics.filter(
    (entry) => entry.severity === "error" && isInside(entry.path, path),
  );
  const unreadable = errors.find(({ code }) => code === "file.unreadable" || code === "source.unreadable");
  if (unreadable) return new SkillLoadError(name, path, unreadable.message);
  const messages = errors.length > 0 ? errors.map(({ message }) => message) : ["no skill was found there"];
  return new SkillValidationError(name, messages, path || undefined);
}

/** Tier 1 as `<available_skills>`: what a model is told about the skills it may use. Sorted, so that caches hold. */
import type { Skill } from "../skill/skill.ts";
import { escapeXml } from "./escape-xml.ts";

/** `""` when there is nothing to tell. Skills that are not enabled, or hidden from the model, are never listed. */
export function renderXml(skills: readonly Skill[]): string {
  const visible = skills.filter(
    ({ status, manifest }) => status === "enabled" && !manifest.disableModelInvocation,
  );
  if (visible.length === 0) return "";
  return ["<available_skills>", ...visible.map(renderSkill), "</available_skills>"].join("\n");
}

function renderSkill({ name, description, location }: Skill): string {
  return [
    "<skill>",
    `<name>${escapeXml(name)}</name>`,
    `<description>${escapeXml(description)}</description>`,
    ...(location === "" ? [] : [`<location>${escapeXml(location)}</location>`]),
    "</skill>",
  ].join("\n");
}

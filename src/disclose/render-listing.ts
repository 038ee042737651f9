/** Tier 1: what a model is told about the skills it may use. The same skills give the same bytes, so that caches hold. */
import type { Skill } from "../skill/skill.ts";
import { activationInstructions } from "./activation-instructions.ts";
import type { Activation, ListingFormat, ListingFormatName, ListingOptions } from "./listing.ts";
import { type EntrySettings, toListingEntry } from "./listing-entry.ts";
import { jsonFormat } from "./render-json.ts";
import { markdownFormat } from "./render-markdown.ts";
import { namesFormat } from "./render-names.ts";
import { xmlFormat } from "./render-xml.ts";
import { visibleSkills } from "./visible-skills.ts";

const FORMATS: Readonly<Record<ListingFormatName, ListingFormat>> = {
  xml: xmlFormat,
  markdown: markdownFormat,
  names: namesFormat,
  json: jsonFormat,
};

/** The options with their defaults filled in. */
export interface ListingSettings extends EntrySettings {
  readonly format: ListingFormat;
  readonly activation: Activation;
}

/** `""` when there is nothing to tell; as JSON, a list of nothing. */
export function renderListing(skills: readonly Skill[], options: ListingOptions = {}): string {
  const settings = listingSettings(options);
  const entries = visibleSkills(skills).map((skill) => toListingEntry(skill, settings));
  if (entries.length === 0) return emptyListing(settings.format);
  const guidance = activationInstructions(settings.activation, settings.location);
  return settings.format.render({ entries, names: [], guidance, more: "" });
}

export function listingSettings(options: ListingOptions): ListingSettings {
  const { format = "xml", mountPath, activation = "tool", descriptions = "full" } = options;
  const usual = format === "xml" || format === "json" ? "file" : "none";
  const location = options.location ?? (mountPath === undefined ? usual : "mounted");
  return {
    format: FORMATS[format],
    location,
    mountPath: mountPath ?? "skills",
    activation,
    descriptions,
    multiline: FORMATS[format].multiline,
    ...(format === "names" ? ({ location: "none", descriptions: "none" } as const) : {}),
  };
}

/** Text of nothing is no text, but JSON of nothing is still JSON. */
export function emptyListing(format: ListingFormat): string {
  return format === jsonFormat ? format.render({ entries: [], names: [], guidance: "", more: "" }) : "";
}

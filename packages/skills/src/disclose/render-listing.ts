/**
 * Tier 1: what a model sees about its skills, in one of four formats, and how it reaches them. The same skills give the
 * same bytes, so that caches work.
 */
import type { Skill } from "../skill/skill.ts";
import { escapeXml } from "./conversation.ts";
import {
  type Activation,
  type EntrySettings,
  type Listing,
  type ListingEntry,
  type ListingFormat,
  type ListingFormatName,
  type ListingOptions,
  type LocationStyle,
  toListingEntry,
  visibleSkills,
} from "./listing.ts";

/** The options with their defaults filled in. */
export interface ListingSettings extends EntrySettings {
  readonly format: ListingFormat;
  readonly activation: Activation;
}

/** `""` if there is nothing to list; for JSON, an empty list. */
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
    location: format === "names" ? "none" : location,
    mountPath: mountPath ?? "skills",
    activation,
    descriptions: format === "names" ? "none" : descriptions,
    multiline: FORMATS[format].multiline,
  };
}

/** An empty list is no text, but still JSON. */
export function emptyListing(format: ListingFormat): string {
  return format === jsonFormat ? format.render({ entries: [], names: [], guidance: "", more: "" }) : "";
}

/** How to activate a skill; `""` if the host explains it. */
export function activationInstructions(activation: Activation, location: LocationStyle): string {
  if (activation === "none") return "";
  if (activation === "tool") {
    return (
      "Before you answer, check whether one of the skills fits the task. " +
      "If one clearly does, call `use_skill` with its name; if none does, go on without one."
    );
  }
  return [
    "When a task matches one of the skills:",
    `1. Read its instructions first: ${WHERE_TO_READ[location]}.`,
    "2. Follow them step by step.",
    "3. Open the scripts and references beside them only when the instructions ask for it.",
  ].join("\n");
}

const WHERE_TO_READ: Readonly<Record<LocationStyle, string>> = {
  file: "the file at its location",
  directory: "`SKILL.md` in the folder at its location, or the file itself if the location is one",
  mounted: "`SKILL.md` in the folder at its location",
  none: "run `metier read` with its name",
};

interface Untold {
  /** How many skills are listed in full or shortened. */
  readonly described: number;
  readonly named: number;
  readonly counted: number;
}

/** One line: how many skills are not listed in full, and how to find them. `""` if there are none. */
export function moreInstructions({ described, named, counted }: Untold, activation: Activation): string {
  if (named === 0 && counted === 0) return "";
  const tool = activation === "tool" ? "call `find_skills`" : "run `metier find`";
  const how = `${tool} with a few words about the task to find the right one.`;
  if (described === 0 && named === 0) return `${skills(counted)} available, too many to list: ${how}`;
  if (counted === 0) return `${skills(named)} listed by name only: ${how}`;
  if (named === 0) return `${skills(counted, " more")} not listed: ${how}`;
  return `${skills(named)} listed by name only and ${counted} more not at all: ${how}`;
}

function skills(count: number, more = ""): string {
  return count === 1 ? `1${more} skill is` : `${count}${more} skills are`;
}

/** As `<available_skills>`, one element per skill; guidance follows as plain text. */
const xmlFormat: ListingFormat = {
  multiline: true,
  render({ entries, names, guidance, more }: Listing) {
    const elements = [...entries.map(xmlEntry), ...xmlNames(names)];
    const block =
      elements.length === 0 ? "" : ["<available_skills>", ...elements, "</available_skills>"].join("\n");
    const words = [guidance, more].filter((text) => text !== "").join("\n");
    return [block, words].filter((text) => text !== "").join("\n\n");
  },
  entryPiece: (entry) => `${xmlEntry(entry)}\n`,
  namePiece: (name) => `${escapeXml(name)}\n`,
  escape: escapeXml,
};

function xmlEntry({ name, description, location, origin }: ListingEntry): string {
  return [
    "<skill>",
    `<name>${escapeXml(name)}</name>`,
    ...(description === undefined ? [] : [`<description>${escapeXml(description)}</description>`]),
    ...(location === undefined ? [] : [`<location>${escapeXml(location)}</location>`]),
    ...(origin === undefined ? [] : [`<origin>${escapeXml(origin)}</origin>`]),
    "</skill>",
  ].join("\n");
}

/** One per line: an element each would cost four times as many tokens. */
function xmlNames(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : ["<other_skills>", ...names.map(escapeXml), "</other_skills>"];
}

/** As a Markdown section: guidance first, then one line per skill. */
const markdownFormat: ListingFormat = {
  multiline: false,
  render({ entries, names, guidance, more }: Listing) {
    const others = names.length === 0 ? "" : `${entries.length === 0 ? "" : "Also: "}${names.join(", ")}`;
    const parts = ["## Skills", guidance, entries.map(markdownEntry).join("\n"), others, more];
    return parts.filter((part) => part !== "").join("\n\n");
  },
  entryPiece: (entry) => `${markdownEntry(entry)}\n`,
  namePiece: (name) => `, ${name}`,
  escape: (text) => text,
};

function markdownEntry({ name, description, location, origin }: ListingEntry): string {
  const place = location === undefined ? "" : ` (\`${location}\`)`;
  return `- **${name}**${description === undefined ? "" : `: ${description}`}${place}${origin === undefined ? "" : ` (from ${origin})`}`;
}

/** As a summary: only the names. */
const namesFormat: ListingFormat = {
  multiline: false,
  render({ entries, names, guidance, more }: Listing) {
    const all = [...entries.map(({ name }) => name), ...names];
    const list = all.length === 0 ? "" : `Available skills: ${all.join(", ")}`;
    return [list, guidance, more].filter((part) => part !== "").join("\n\n");
  },
  entryPiece: ({ name }) => `, ${name}`,
  namePiece: (name) => `, ${name}`,
  escape: (text) => text,
};

/** As JSON, one skill per line: `{skills: [{name, description?, location?, origin?}], names?, guidance?, more?}`. */
const jsonFormat: ListingFormat = {
  multiline: true,
  render({ entries, names, guidance, more }: Listing) {
    const fields = Object.entries({ names, guidance, more })
      .filter(([, value]) => value.length > 0)
      .map(([key, value]) => `,\n${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return `{"skills":[${jsonLines(entries)}]${fields.join("")}}`;
  },
  entryPiece: (entry) => `${jsonEntry(entry)},\n`,
  namePiece: (name) => `,${JSON.stringify(name)}`,
  escape: (text) => JSON.stringify(text).slice(1, -1),
};

function jsonLines(entries: readonly ListingEntry[]): string {
  return entries.length === 0 ? "" : `\n${entries.map(jsonEntry).join(",\n")}\n`;
}

function jsonEntry({ name, description, location, origin }: ListingEntry): string {
  return JSON.stringify({ name, description, location, origin });
}

const FORMATS: Readonly<Record<ListingFormatName, ListingFormat>> = {
  xml: xmlFormat,
  markdown: markdownFormat,
  names: namesFormat,
  json: jsonFormat,
};

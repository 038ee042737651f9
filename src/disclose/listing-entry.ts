/** A skill as a listing shows it: clean text, and where it is in the words the reader can use. */
import type { Skill } from "../skill/skill.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import type { Descriptions, ListingEntry, LocationStyle } from "./listing.ts";
import { SHORT_DESCRIPTION, shortenDescription } from "./shorten-description.ts";
import { tellOrigin } from "./tell-origin.ts";

export interface EntrySettings {
  readonly location: LocationStyle;
  readonly mountPath: string;
  readonly descriptions: Descriptions;
  readonly multiline: boolean;
}

export function toListingEntry(skill: Skill, settings: EntrySettings): ListingEntry {
  const description = describe(skill, settings);
  const location = locate(skill, settings);
  return {
    name: cleanLine(skill.name),
    ...(description === "" ? {} : { description }),
    ...(location === "" ? {} : { location: cleanLine(location) }),
    ...(skill.remote && { origin: tellOrigin(skill.remote) }),
  };
}

function describe({ description }: Skill, { descriptions, multiline }: EntrySettings): string {
  if (descriptions === "none") return "";
  if (descriptions === "short") return shortenDescription(cleanLine(description), SHORT_DESCRIPTION);
  return multiline ? cleanText(description).text : cleanLine(description);
}

/** `""` for a skill that was given as an object or that a server has: there is no file to point to. */
function locate(skill: Skill, { location, mountPath }: EntrySettings): string {
  if (skill.location === "" || skill.remote || location === "none") return "";
  if (location === "mounted") return mountedPlace(mountPath, skill.name);
  return location === "directory" && skill.form === "directory" ? skill.directory : skill.location;
}

/** Where a mounted skill is for its reader; without a mount path it is in the workspace itself. */
export function mountedPlace(mountPath: string, name: string): string {
  return mountPath === "" ? name : `${mountPath.replace(/\/+$/, "")}/${name}`;
}

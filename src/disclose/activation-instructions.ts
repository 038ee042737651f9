/** What a model is told beside the listing: how to activate a skill, and how to find those that are not told in full. */
import type { Activation, LocationStyle } from "./listing.ts";

/** `""` when the host says it itself. */
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

export interface Untold {
  /** How many skills are told in full or shortened. */
  readonly described: number;
  readonly named: number;
  readonly counted: number;
}

/** One line: how many skills are not told in full, and how to find them. `""` when there are none. */
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

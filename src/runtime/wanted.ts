/** What a program has asked of its `Metier` so far, beyond its options. Every snapshot is loaded for one of these. */
import type { GivenSkill } from "../catalog/given-skills.ts";

/**
 * `none`: nothing is looked for but what was registered. `configured`: the sources, and the standard directories if the
 * configuration says so. `asked`: the program wants them whatever users configure; the policy may still say no.
 */
export type Discovery = "none" | "configured" | "asked";

/** A skill that was registered after creation: by absolute path, or as an object. */
export type Registration = string | GivenSkill;

export interface Wanted {
  readonly discovery: Discovery;
  readonly registered: readonly Registration[];
}

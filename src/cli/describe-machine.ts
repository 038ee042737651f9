/** The facts about the machine that decide what works here. */

import { VERSION } from "../foundation/version.ts";
import { createCommandFinder } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";

export interface Machine {
  readonly metier: string;
  readonly node: string;
  readonly platform: string;
  readonly home: string;
  /** Programs later commands need: where they are, or `null`. */
  readonly programs: Readonly<Record<string, string | null>>;
}

const PROGRAMS = ["git", "bwrap"];

export function describeMachine(
  environment: Readonly<Record<string, string | undefined>>,
  places: Places,
): Machine {
  const find = createCommandFinder(environment);
  return {
    metier: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    home: places.base,
    programs: Object.fromEntries(PROGRAMS.map((name) => [name, find(name) ?? null])),
  };
}

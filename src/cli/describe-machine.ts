/** The facts about the machine that decide what works here. */

import type { Config } from "../config/config.ts";
import { VERSION } from "../foundation/version.ts";
import { createCommandFinder } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { SandboxProbe } from "../sandbox/describe-probes.ts";

export interface Machine {
  readonly metier: string;
  readonly node: string;
  readonly platform: string;
  readonly home: string;
  /** Programs later commands need: where they are, or `null`. */
  readonly programs: Readonly<Record<string, string | null>>;
  /** What isolates commands, as tried just now. */
  readonly sandbox: readonly SandboxProbe[];
}

const PROGRAMS = ["git", "bwrap"];

export async function describeMachine(
  environment: Readonly<Record<string, string | undefined>>,
  places: Places,
  backend: Config["sandbox"]["backend"],
): Promise<Machine> {
  const find = createCommandFinder(environment);
  const { chooseSandbox } = await import("../sandbox/choose-sandbox.ts");
  const { probes } = await chooseSandbox({ backend, trust: "trusted", environment });
  return {
    metier: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    home: places.base,
    programs: Object.fromEntries(PROGRAMS.map((name) => [name, find(name) ?? null])),
    sandbox: probes,
  };
}

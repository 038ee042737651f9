/** The facts about the machine that decide what works here. */

import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
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
  /** What isolates commands, as tried just now: the first that works is used. */
  readonly sandbox: readonly SandboxProbe[];
  /** What sandboxed commands can be written in: where each comes from, or `null`. */
  readonly interpreters: Readonly<Record<string, string | null>>;
}

export interface DescribedMachine {
  readonly machine: Machine;
  /** Of `sandbox.programs`. */
  readonly diagnostics: readonly Diagnostic[];
}

const PROGRAMS = ["git", "bwrap"];

export async function describeMachine(
  environment: Readonly<Record<string, string | undefined>>,
  places: Places,
  config: Config["sandbox"],
): Promise<DescribedMachine> {
  const find = createCommandFinder(environment);
  const { chooseSandbox, probeOrder } = await import("../sandbox/choose-sandbox.ts");
  const { listInterpreters } = await import("../sandbox/list-interpreters.ts");
  const { findPrograms } = await import("../sandbox/programs.ts");
  const brought = findPrograms(config.programs, places, environment);
  const request = { backend: config.backend, trust: "trusted", environment, programs: brought } as const;
  const { sandbox } = await chooseSandbox(request);
  const machine: Machine = {
    metier: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    home: places.base,
    programs: Object.fromEntries(PROGRAMS.map((name) => [name, find(name) ?? null])),
    sandbox: await probeOrder(request),
    interpreters: sandbox ? await listInterpreters(sandbox, brought) : {},
  };
  return { machine, diagnostics: brought.diagnostics };
}

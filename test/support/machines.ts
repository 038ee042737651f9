/**
 * Machines that share a database and an object store: each has a home of its own, and only those of servers have the skills.
 * All of them know the same model.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { runFolder } from "@metier/run/events";
import type { MetierProcess } from "./metier-process.ts";
import { createRunWorld } from "./scripted-runs.ts";
import { type ServeProcess, startServe, startWork } from "./serve-process.ts";
import { newSharedPlaces, type SharedPlaces } from "./shared-places.ts";
import type { StreamingProvider } from "./streaming-provider.ts";
import { skill, type World } from "./world.ts";

type Skills = Parameters<typeof createRunWorld>[0];

interface StartOptions {
  readonly port?: string;
  readonly lease?: number;
  readonly flags?: readonly string[];
}

export interface Machines extends SharedPlaces {
  readonly world: World;
  /** The API alone: workers do the rest. Every name is a machine. */
  serve(name: string, options?: StartOptions): Promise<ServeProcess>;
  work(name: string, options?: StartOptions): Promise<MetierProcess>;
  /** Where the run works on that machine, whether it is there or not. */
  workFolder(name: string, runId: string): string;
  /** The names of those of these on which the run works or has worked. */
  placesOf(runId: string, ...names: readonly string[]): readonly string[];
}

export async function createMachines(
  skills: Skills,
  provider: StreamingProvider,
  given?: SharedPlaces,
): Promise<Machines> {
  const world = createRunWorld({});
  const places = given ?? (await newSharedPlaces());
  const makeHome = (name: string): string => {
    world.write({ [`${name}/.metier/config.toml`]: provider.toml });
    return join(world.root, name);
  };
  const { environment } = places;
  const workFolder = (name: string, runId: string): string =>
    runFolder(metierPlaces(join(world.root, name), {}), runId).work;
  return {
    ...places,
    world,
    async serve(name, { flags = [], ...options } = {}) {
      for (const [skillName, [more, body]] of Object.entries(skills)) {
        world.write({ [`${name}/.metier/skills/${skillName}/SKILL.md`]: skill(skillName, more, body) });
      }
      return startServe(makeHome(name), { ...options, environment, flags: ["--slots", "0", ...flags] });
    },
    work: (name, options = {}) => startWork(makeHome(name), { ...options, environment }),
    workFolder,
    placesOf: (runId, ...names) => names.filter((name) => existsSync(workFolder(name, runId))),
  };
}

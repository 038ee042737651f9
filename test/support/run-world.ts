/** A home, a project, a skill and a work folder in a temporary folder, and the world that a run over them sees. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { type BuiltWorld, buildWorld, type World, type WorldRequest } from "@metier/sandbox";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface RunFolders {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly skill: string;
  /** Where the run keeps its files: below Metier's own folder, as in a real run. */
  readonly work: string;
  write(files: Readonly<Record<string, string>>): void;
  build(request?: Partial<WorldRequest>): BuiltWorld;
  world(request?: Partial<WorldRequest>): World;
}

export function createRunFolders(): RunFolders {
  const root = temporaryFolder();
  const home = join(root, "home");
  const project = join(root, "project");
  const skill = join(root, "skills", "pdf");
  const work = join(home, ".metier", "state", "runs", "r1", "work");
  for (const folder of [project, skill, work]) mkdirSync(folder, { recursive: true });
  const build = (request: Partial<WorldRequest> = {}): BuiltWorld =>
    buildWorld({
      trust: "trusted",
      cwd: project,
      workDir: work,
      skillDir: skill,
      write: false,
      places: metierPlaces(home),
      privateFiles: [],
      ...request,
    });
  return {
    root,
    home,
    project,
    skill,
    work,
    write: (files) => writeTree(root, files),
    build,
    world: (request) => build(request).world,
  };
}

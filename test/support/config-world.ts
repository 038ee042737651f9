/** A home, a repository and a policy in a temporary folder, and `loadConfig` over them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces, type Places } from "@metier/base/places";
import type { LoadedConfig } from "@metier/skills/config";
import { type LoadConfigOptions, loadConfig } from "@metier/skills/config";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface World {
  readonly root: string;
  readonly home: string;
  /** A repository. */
  readonly project: string;
  readonly places: Places;
  readonly userFile: string;
  readonly projectFile: string;
  readonly policyFile: string;
  load(options?: Partial<LoadConfigOptions>): Promise<LoadedConfig>;
}

/** File names: `user`, `project` and `policy` stand for the three TOML files, anything else is below the root. */
export function createWorld(files: Readonly<Record<string, string>> = {}): World {
  const root = temporaryFolder();
  const home = join(root, "home");
  const project = join(root, "project");
  const names: Readonly<Record<string, string>> = {
    user: "home/.metier/config.toml",
    project: "project/.metier/config.toml",
    policy: "etc/policy.toml",
  };
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(home);
  writeTree(
    root,
    Object.fromEntries(Object.entries(files).map(([name, text]) => [names[name] ?? name, text])),
  );
  const places = metierPlaces(home);
  const policyFile = join(root, "etc/policy.toml");
  return {
    root,
    home,
    project,
    places,
    userFile: places.configFile,
    projectFile: join(project, ".metier/config.toml"),
    policyFile,
    load: (options) => loadConfig({ cwd: project, places, environment: {}, policyFile, ...options }),
  };
}

/** The one diagnostic there is; a test that expects another number fails with what there is. */
export function onlyDiagnostic({
  diagnostics,
}: Pick<LoadedConfig, "diagnostics">): LoadedConfig["diagnostics"][0] {
  const [first] = diagnostics;
  if (first === undefined || diagnostics.length > 1)
    throw new Error(`Expected one diagnostic, got ${JSON.stringify(diagnostics, null, 2)}`);
  return first;
}

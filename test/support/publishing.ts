/** Publishes skills of a world, and shows what came of it. */
import { chmodSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  type PublishFault,
  type PublishOptions,
  type PublishReport,
  publishSkills,
} from "@metier/install/publish";
import type { InstallWorld } from "./installing.ts";
import { skill } from "./world.ts";

/** Where an index stands in a site. */
export const PLACE = ".well-known/agent-skills";
/** A form that the scan takes for a real token, in pieces so that it is none here. */
export const TOKEN: string = ["ghp", "k3Jq9XvT2mLr8YwB5nHs7DcF4gZp1AeR6uWx"].join("_");

/** Skills of the project into its folder `site`. */
async function publish(
  world: InstallWorld,
  options: Partial<PublishOptions>,
): ReturnType<typeof publishSkills> {
  return publishSkills(await world.metier(), { folder: "site", cwd: world.project, ...options });
}

export async function published(
  world: InstallWorld,
  options: Partial<PublishOptions> = {},
): Promise<PublishReport> {
  const outcome = await publish(world, options);
  if (!outcome.ok) throw new Error(`${outcome.fault.message} ${outcome.fault.hint}`);
  return outcome;
}

export async function publishFault(
  world: InstallWorld,
  options: Partial<PublishOptions> = {},
): Promise<PublishFault> {
  const outcome = await publish(world, options);
  if (outcome.ok) throw new Error("It was published.");
  return outcome.fault;
}

/** One skill of a single file, and one with a script, a link and a long name, below a folder of the project. */
export function writeSkills(world: InstallWorld, below = "skills"): void {
  world.write({
    [`project/${below}/pdf/SKILL.md`]: skill("pdf"),
    [`project/${below}/report/SKILL.md`]: skill("report"),
    [`project/${below}/report/scripts/run.sh`]: "#!/bin/sh\necho hi\n",
    [`project/${below}/report/references/${"deep/".repeat(22)}notes.md`]: "Notes.\n",
  });
  chmodSync(join(world.project, below, "report/scripts/run.sh"), 0o755);
  symlinkSync("scripts/run.sh", join(world.project, below, "report/start"));
}

/** Contents of a published folder by name. */
export function siteFiles(world: InstallWorld, site = "site"): Record<string, string> {
  const folder = join(world.project, site, PLACE);
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );
}

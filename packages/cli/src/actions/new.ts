/** `metier new`: creates a valid skill with a test and an eval that run. Never overwrites anything. */
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SkillValidationError, UsageError } from "@metier/base/errors";
import { metierPlaces, projectFolders } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import { isSkillName, normaliseSkillName, validatePaths } from "@metier/skills";
import type { NewFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, reply } from "../context.ts";
import { homeFolder, workingDirectory } from "../open-metier.ts";
import { pathToType } from "./skill-path.ts";
import { templateFiles } from "./skill-templates.ts";

export const newAction: Action<NewFlags, [name: string]> = async (context, flags, name) => {
  requireName(name);
  const folder = join(targetFolder(context, flags), name);
  if (lstatSync(folder, { throwIfNoEntry: false })) {
    throw new UsageError(`\`${folder}\` already exists.`, {
      hint: "Choose another name, or remove it first.",
    });
  }
  const files = templateFiles(flags.template, name, flags.description);
  try {
    for (const { path, content, executable } of files) {
      const file = join(folder, path);
      // The user's own folder is private; a project's folder gets the project's usual mode.
      mkdirSync(dirname(file), { recursive: true, mode: flags.user ? 0o700 : undefined });
      writeFileSync(file, content, { flag: "wx" });
      if (executable) chmodSync(file, 0o755);
    }
    await requireValid(name, folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true }); // Removes what is half-made; this command created the folder.
    throw error;
  }
  const written = files.map(({ path }) => join(folder, path));
  const next = await nextCommands(context, flags, name, folder);
  const lines = ["Created", ...written.map((file) => `  ${file}`), "Edit `SKILL.md`, then:"];
  const text = () => [...lines, ...next.map((command) => `  ${command}`)].map(safeLine).join("\n");
  reply(context, flags, { name, path: folder, files: written, next }, text);
};

/** Commands that work as printed, from the folder where `new` was typed. */
async function nextCommands(
  context: CliContext,
  flags: NewFlags,
  name: string,
  folder: string,
): Promise<readonly string[]> {
  // A path always means this skill, even if others share its name; where Metier looks for skills, the name is enough.
  const skill = flags.project || flags.user ? name : await pathToType(context, folder);
  return [`metier test ${skill}`, `metier eval ${skill} --dry-run`, `metier run ${skill} "<task>"`];
}

function requireName(name: string): void {
  if (isSkillName(name)) return;
  const better = normaliseSkillName(name);
  throw new UsageError(
    `\`${name}\` is not a valid skill name: use lower-case letters, digits and single hyphens, at most 64 characters.`,
    better ? { hint: `Use \`${better}\`.` } : {},
  );
}

function targetFolder(context: CliContext, flags: NewFlags): string {
  if (flags.project && flags.user) throw new UsageError("`--project` and `--user` can't be used together.");
  const cwd = workingDirectory(context, flags);
  const places = metierPlaces(homeFolder(context, flags));
  if (flags.user) return places.skills;
  return flags.project ? join(projectFolders(cwd, places.home).root, ".metier", "skills") : cwd;
}

/** A description on the command line may be too long or empty; better to say so now. */
async function requireValid(name: string, folder: string): Promise<void> {
  const report = await validatePaths([folder], "strict");
  if (report.valid) return;
  const errors = report.results.flatMap(({ diagnostics }) =>
    diagnostics.flatMap(({ severity, message }) => (severity === "error" ? [message] : [])),
  );
  throw new SkillValidationError(name, errors);
}
